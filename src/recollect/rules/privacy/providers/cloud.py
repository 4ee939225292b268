"""Cloud platforms: AWS, Google, Azure, DigitalOcean, Heroku, Cloudflare, Alibaba, HashiCorp and others."""

from functools import partial

from recollect.rules.privacy.examples import ALNUM, BASE64, BASE64URL, HEX, LOWER, UPPER, fake
from recollect.rules.privacy.providers.key_format import key_format
from recollect.rules.privacy.rule import WORD_END, Rule, has_digit, with_head
from recollect.rules.privacy.triggers import long_word

_UUID = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
_FAKE_UUID = f"{fake(8, HEX)}-{fake(4, HEX)}-4{fake(3, HEX)}-a{fake(3, HEX)}-{fake(12, HEX)}"

RULES = (
    key_format(
        "aws_access_key_id",
        anchors=("akia", "asia", "abia", "acca"),
        pattern=r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}" + WORD_END,
        true_positives=(
            f"AWS_ACCESS_KEY_ID=«AKIA{fake(16, UPPER)}»",
            f"the key «ASIA{fake(16, UPPER)}» expires tonight",
            f"bearer token id «ABIA{fake(16, UPPER)}»",
            f"context «ACCA{fake(16, UPPER)}»",
            f'"AccessKeyId": "«AKIA{fake(16, UPPER)}»"',
        ),
        false_positives=(
            "ASIA-PACIFIC-SOUTHEAST-REGION",
            f"AKIA{fake(9, UPPER)}",
            f"AKIA{fake(16, LOWER)}z",
        ),
    ),
    key_format(
        "aws_secret_access_key",
        anchors=("aws", "secret"),
        pattern=r"(?i:aws|secret)[^\n]{0,40}?(?<![A-Za-z0-9/+=])(?P<secret>(?=[A-Za-z/+]{0,39}[0-9])[A-Za-z0-9/+]{40})"
        r"(?![A-Za-z0-9/+=])",
        true_positives=(
            f"aws_secret_access_key = «{fake(40, BASE64)}»",
            f"the AWS secret is «{fake(40, BASE64)}»",
            f"AWS: «{fake(40, BASE64)}»",
            f'secretAccessKey: "«{fake(40, BASE64)}»"',
        ),
        false_positives=(
            "aws s3 cp report.pdf s3://ana-backups/2024/05/01/quarterly/report.pdf",
            f"aws bucket etag {fake(64, HEX)}",
            f"the secret is {fake(30, BASE64)}",
        ),
    ),
    key_format(
        "google_api_key",
        anchors=("aiza",),
        pattern=r"AIza[A-Za-z0-9_\-]{35}" + WORD_END,
        true_positives=(
            f"maps key «AIza{fake(35, BASE64URL)}»",
            f"https://maps.example/js?key=«AIza{fake(35)}»&v=3",
            f"GOOGLE_API_KEY=«AIza{fake(35)}»",
        ),
        false_positives=("Google's keys start with AIza", f"AIza{fake(20)}", f"AIza{fake(50)}"),
    ),
    key_format(
        "google_oauth_secret",
        anchors=("gocspx-", "ya29."),
        pattern=r"(?:GOCSPX-[A-Za-z0-9_\-]{28}" + WORD_END + r"|ya29\.[A-Za-z0-9_\-]{20,400})",
        true_positives=(
            f'"client_secret": "«GOCSPX-{fake(28, BASE64URL)}»"',
            f"curl with «ya29.{fake(120, BASE64URL)}»",
            f"the access token («ya29.{fake(60)}») is stale",
        ),
        false_positives=(
            "GOCSPX-placeholder",
            "ya29. is the beginning of an access token",
            "see section ya29.installation",
        ),
    ),
    key_format(
        "azure_storage_key",
        anchors=("accountkey", "sharedaccesskey"),
        pattern=r"(?i:AccountKey|SharedAccessKey)\s?=\s?(?P<secret>[A-Za-z0-9+/]{42,90}={1,2})",
        true_positives=(
            "DefaultEndpointsProtocol=https;AccountName=ana;"
            f"AccountKey=«{fake(86, BASE64)}==»;EndpointSuffix=core.windows.net",
            f"Endpoint=sb://ana.servicebus.windows.net/;SharedAccessKeyName=root;SharedAccessKey=«{fake(43, BASE64)}=»",
            f"AccountKey = «{fake(86, BASE64)}==»",
        ),
        false_positives=(
            "AccountKey=<your-account-key>;EndpointSuffix=core.windows.net",
            "SharedAccessKeyName=RootManageSharedAccessKey",
            "AccountKey=UseDevelopmentStorage",
        ),
    ),
    key_format(
        "azure_signature",
        anchors=("sig=",),
        pattern=r"sig=(?P<secret>(?:[A-Za-z0-9+/]|%2[BbFf]){42,60}(?:=|%3[Dd]))",
        true_positives=(
            f"https://ana.blob.core.windows.net/x?sv=2022-11-02&sp=r&sig=«{fake(43)}%3D»",
            f"append ?sig=«{fake(43, BASE64)}=» to the address",
            f"se=2030-01-01&sig=«{fake(20)}%2B{fake(22)}%3D»",
        ),
        false_positives=("sig=unsigned-for-local-testing", f"sig={fake(20)}%3D", "design=modern&sig=none"),
    ),
    Rule(
        name="azure_client_secret",
        type="api_key",
        when=long_word,
        anchors=("q~",),
        pattern=r"(?<=[A-Za-z0-9_~.\-]{3}[0-9])Q~[A-Za-z0-9_~.\-]{31,34}",
        check=partial(with_head, 4),
        true_positives=(
            f"AZURE_CLIENT_SECRET=«{fake(3)}8Q~{fake(31, BASE64URL)}»",
            f"'«{fake(3)}7Q~{fake(34)}»'",
            f"the app registration's secret is «{fake(3)}8Q~{fake(32)}» until May",
        ),
        false_positives=("the reports for 3Q~4Q are late", "abc8Q~short", "our 2Q~ estimates of revenue"),
    ),
    key_format(
        "digitalocean_token",
        anchors=("dop_v1_", "doo_v1_", "dor_v1_"),
        pattern=r"do[opr]_v1_[a-f0-9]{64}" + WORD_END,
        true_positives=(
            f"doctl auth init -t «dop_v1_{fake(64, HEX)}»",
            f"«doo_v1_{fake(64, HEX)}»",
            f"refresh token «dor_v1_{fake(64, HEX)}».",
        ),
        false_positives=(
            "dop_v1_ is the prefix of a personal token",
            f"dop_v1_{fake(40, HEX)}",
            "dop_v1_token_placeholder",
        ),
    ),
    key_format(
        "heroku_key",
        anchors=("heroku", "hrku-"),
        pattern=r"(?:(?i:heroku)[^\n]{0,40}?(?P<secret>" + _UUID + r")|HRKU-[A-Za-z0-9_\-]{36,80})" + WORD_END,
        true_positives=(
            f"HEROKU_API_KEY=«{_FAKE_UUID}»",
            f"my heroku key is «{_FAKE_UUID}»",
            f"«HRKU-AA{fake(58, BASE64URL)}»",
        ),
        false_positives=(
            f"request id {_FAKE_UUID}",
            "the heroku app polar-forest-12345 restarted",
            "heroku config:set HRKU-REGION=eu",
        ),
    ),
    key_format(
        "cloudflare_token",
        anchors=("cfk_", "cfut_", "cfat_", "v1.0-"),
        pattern=r"(?:cf(?:k|ut|at)_[A-Za-z0-9_\-]{40,60}|v1\.0-[a-f0-9]{24}-[a-f0-9]{146}" + WORD_END + ")",
        true_positives=(
            f"CLOUDFLARE_API_TOKEN=«cfut_{fake(48)}»",
            f"«cfk_{fake(46)}»",
            f"account token «cfat_{fake(48)}»",
            f"origin CA key «v1.0-{fake(24, HEX)}-{fake(146, HEX)}»",
        ),
        false_positives=("cfk_settings_for_the_zone", "release v1.0-rc1-candidate-build", "cfat_module_loader"),
    ),
    key_format(
        "hashicorp_vault_token",
        anchors=("hvs.", "hvb.", "hvr."),
        pattern=r"hv[sbr]\.[A-Za-z0-9_\-]{24,300}",
        true_positives=(
            f"VAULT_TOKEN=«hvs.{fake(95, BASE64URL)}»",
            f"batch token «hvb.{fake(140)}»",
            f"recovery token «hvr.{fake(40)}»",
            f"vault login «hvs.{fake(24)}»",
        ),
        false_positives=("hvs.example", "the hvs. prefix marks a service token", "see hvr.documentation.pages"),
    ),
    Rule(
        name="terraform_cloud_token",
        type="api_key",
        when=long_word,
        anchors=(".atlasv1.",),
        pattern=r"(?<=[A-Za-z0-9]{14})\.atlasv1\.[A-Za-z0-9_\-=]{60,70}",
        check=partial(with_head, 14),
        true_positives=(
            f"token = «{fake(14)}.atlasv1.{fake(67)}»",
            f"TF_TOKEN=«{fake(14)}.atlasv1.{fake(67, BASE64URL)}»",
            f"«{fake(14)}.atlasv1.{fake(60)}»",
        ),
        false_positives=("docs.atlasv1.example.com", "atlas.atlasv1.readme", f"{fake(14)}.atlasv1.{fake(20)}"),
    ),
    key_format(
        "alibaba_or_tencent_key",
        anchors=("ltai", "akid"),
        pattern=r"(?:LTAI[A-Za-z0-9]{12,26}|AKID[A-Za-z0-9]{32})" + WORD_END,
        check=has_digit,
        true_positives=(
            f"AccessKeyId «LTAI{fake(20)}»",
            f"ALIYUN=«LTAI5t{fake(18)}»",
            f"SecretId: «AKID{fake(32)}»",
        ),
        false_positives=("the LTAIonosphereProbeSatellite", f"AKID{fake(12)}", "a voltaic cell"),
    ),
    key_format(
        "databricks_token",
        anchors=("dapi",),
        pattern=r"dapi[a-f0-9]{32}(?:-[0-9]{1,2})?" + WORD_END,
        true_positives=(
            f"DATABRICKS_TOKEN=«dapi{fake(32, HEX)}»",
            f"use «dapi{fake(32, HEX)}-2»",
            f"(«dapi{fake(32, HEX)}»)",
        ),
        false_positives=("the dapiclientconfiguration file", f"dapi{fake(20, HEX)}", f"dapi{fake(32, ALNUM)}Z"),
    ),
)
