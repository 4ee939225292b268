"""Where code lives and packages are published: GitHub, GitLab, Bitbucket, npm, PyPI, Docker Hub and others."""

from recollect.rules.privacy.examples import BASE64URL, HEX, LOWER, fake
from recollect.rules.privacy.providers.key_format import key_format
from recollect.rules.privacy.rule import WORD_END

_GITLAB = ("glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-", "glft-", "glimt-", "glagent-")

RULES = (
    key_format(
        "github_token",
        anchors=("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
        pattern=r"gh[pousr]_[A-Za-z0-9]{20,255}",
        true_positives=(
            f"my GitHub token is «ghp_{fake(36)}»",
            f"GITHUB_TOKEN=«gho_{fake(40)}»",
            f"signed in as «ghu_{fake(36)}»",
            f"https://«ghs_{fake(36)}»@github.com/ana/notes.git",
            f"refresh with «ghr_{fake(76)}», please",
        ),
        false_positives=(
            "classic tokens begin with ghp_ and fine-grained ones with github_pat_",
            "rename ghp_helper_functions_for_release.py before the merge",
            f"cut short: ghp_{fake(12)}",
            f"ghx_{fake(36)} has a prefix that GitHub doesn't use",
        ),
    ),
    key_format(
        "github_fine_grained_token",
        anchors=("github_pat_",),
        pattern=r"github_pat_[A-Za-z0-9]{20,24}_[A-Za-z0-9]{40,100}|github_pat_[A-Za-z0-9_]{40,200}",
        true_positives=(
            f"«github_pat_{fake(22)}_{fake(59)}»",
            f'token: "«github_pat_{fake(22)}_{fake(59)}»"',
            f"export GH_TOKEN=«github_pat_{fake(82)}»",
        ),
        false_positives=(
            "set github_pat_for_releases in the CI settings",
            "the variable github_pat_read_only_production",
            f"github_pat_{fake(12)}",
        ),
    ),
    key_format(
        "gitlab_token",
        anchors=_GITLAB,
        pattern=r"gl(?:pat|dt|rt|ptt|cbt|soat|ft|imt|agent)-[A-Za-z0-9_\-]{20,200}",
        true_positives=(
            f"push with «glpat-{fake(20, BASE64URL)}»",
            f"deploy token «gldt-{fake(20)}» for staging",
            *(f"and «{prefix}{fake(20)}»" for prefix in _GITLAB),
        ),
        false_positives=(
            "tokens of GitLab start with glpat- since 14.5",
            "glpat-example",
            "the glft-adapter and glrt-shim packages",
        ),
    ),
    key_format(
        "bitbucket_or_atlassian_token",
        anchors=("atatt3", "atbb", "atctt3"),
        pattern=r"(?:AT[AC]TT3[A-Za-z0-9_\-=]{50,300}|ATBB[A-Za-z0-9]{32}" + WORD_END + ")",
        true_positives=(
            f"Jira: «ATATT3{fake(186, BASE64URL)}»",
            f"clone with «ATBB{fake(32)}»",
            f"«ATCTT3{fake(120)}»",
        ),
        false_positives=(
            "ATBB is how app passwords begin",
            f"ATBB{fake(20)}",
            "the ATATT3 prefix marks an Atlassian token",
        ),
    ),
    key_format(
        "npm_token",
        anchors=("npm_",),
        pattern=r"npm_[A-Za-z0-9]{20,60}" + WORD_END,
        true_positives=(
            f"NPM_TOKEN=«npm_{fake(36)}»",
            f"//npm.example.org/:_authToken=«npm_{fake(36)}»",
            f"publish with «npm_{fake(36)}»!",
        ),
        false_positives=(
            "npm_config_registry=https://npm.example.org",
            "read npm_package_version in the build script",
            f"npm_{fake(12)}",
        ),
    ),
    key_format(
        "pypi_token",
        anchors=("pypi-ag",),
        pattern=r"pypi-Ag[A-Za-z0-9_\-]{40,300}",
        true_positives=(
            f"twine upload -p «pypi-AgEIcHlwaS5vcmc{fake(150, BASE64URL)}»",
            f"PYPI=«pypi-AgENdGVzdC5weXBpLm9yZw{fake(120)}»",
            f"the upload token («pypi-AgEIcHlwaS5vcmc{fake(60)}»)",
        ),
        false_positives=(
            "pypi-agnostic tooling is what we want",
            "the pypi-Ag prefix of upload tokens",
            "install pypi-attestations from the index",
        ),
    ),
    key_format(
        "docker_token",
        anchors=("dckr_pat_", "dckr_oat_"),
        pattern=r"dckr_[po]at_[A-Za-z0-9_\-]{20,60}",
        true_positives=(
            f"docker login -u ana -p «dckr_pat_{fake(27, BASE64URL)}»",
            f"«dckr_oat_{fake(32)}»",
            f"registry token: «dckr_pat_{fake(27)}»",
        ),
        false_positives=("dckr_pat_ is the prefix", "dckr_pat_example", "set DCKR_PAT_NAME to ana"),
    ),
    key_format(
        "rubygems_token",
        anchors=("rubygems_",),
        pattern=r"rubygems_[a-f0-9]{48}" + WORD_END,
        true_positives=(
            f"gem push with «rubygems_{fake(48, HEX)}»",
            f"GEM_HOST_API_KEY=«rubygems_{fake(48, HEX)}»",
            f"(«rubygems_{fake(48, HEX)}»)",
        ),
        false_positives=("rubygems_version_check_enabled", f"rubygems_{fake(30, HEX)}", "rubygems_mirror_list"),
    ),
    key_format(
        "crates_token",
        anchors=("cio",),
        pattern=r"cio[A-Za-z0-9]{32}" + WORD_END,
        true_positives=(
            f"cargo login «cio{fake(32)}»",
            f"CARGO_REGISTRY_TOKEN=«cio{fake(32)}»",
            f"the crates.io token «cio{fake(32)}».",
        ),
        false_positives=("a delicious precio", f"cio{fake(20)}", f"negocio{fake(32, LOWER)}"),
    ),
    key_format(
        "ci_and_hosting_token",
        anchors=("nfp_", "bkua_", "sbp_", "sb_secret_", "rnd_", "fo1_", "fm2_", "pscale_"),
        pattern=(
            r"(?:nfp_[A-Za-z0-9]{30,60}|bkua_[a-f0-9]{40}|sbp_[a-f0-9]{40}|sb_secret_[A-Za-z0-9_\-]{22,60}"
            r"|rnd_[A-Za-z0-9]{28,40}|fo1_[A-Za-z0-9_\-]{43}|fm2_[A-Za-z0-9+/=_\-]{80,400}"
            r"|pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_\-.=]{32,64})"
        ),
        true_positives=(
            f"NETLIFY_AUTH_TOKEN=«nfp_{fake(36)}»",
            f"supabase login --token «sbp_{fake(40, HEX)}»",
            f"PlanetScale: «pscale_tkn_{fake(43, BASE64URL)}»",
            f"buildkite «bkua_{fake(40, HEX)}»",
            f"service key «sb_secret_{fake(31)}»",
            f"render «rnd_{fake(32)}»",
            f"fly «fo1_{fake(43)}»",
            f"FlyV1 «fm2_{fake(200, BASE64URL)}»",
        ),
        false_positives=("rnd_seed_for_reproducible_runs", "sbp_module_registry", "fm2_frequency_modulation_operator"),
    ),
)
