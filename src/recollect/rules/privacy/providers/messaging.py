"""Chat, mail and telephony: Slack, Discord, Telegram, Twilio, SendGrid, Mailgun, Mailchimp and others."""

import re
from functools import partial

from recollect.rules.privacy.examples import ALNUM, BASE64URL, HEX, UPPER, fake
from recollect.rules.privacy.providers.key_format import key_format
from recollect.rules.privacy.rule import WORD_END, Rule, Span, first, text_before, with_head
from recollect.rules.privacy.triggers import long_word


def _with_bot_id(match: re.Match[str]) -> Span:
    """Take in the number before the colon."""
    before = text_before(match, 10)
    return match.start() - len(before) + len(before.rstrip("0123456789")), match.end()


RULES = (
    key_format(
        "slack_token",
        anchors=("xoxa-", "xoxb-", "xoxp-", "xoxo-", "xoxs-", "xoxr-", "xoxe", "xapp-"),
        pattern=r"(?:xox(?:[abposr]|e(?:\.xox[bp])?)|xapp)-(?=[A-Za-z\-]{0,16}[0-9])[A-Za-z0-9\-]{11,300}",
        true_positives=(
            f"SLACK_BOT_TOKEN=«xoxb-{fake(12, '0123456789')}-{fake(13, '0123456789')}-{fake(24)}»",
            f"user token «xoxp-{fake(12, '0123456789')}-{fake(12, '0123456789')}-{fake(32, HEX)}»",
            *(f"also «{kind}-{fake(40)}»" for kind in ("xoxa", "xoxo", "xoxs", "xoxr", "xoxe", "xoxe.xoxp")),
            f"socket mode: «xapp-1-A{fake(10, UPPER)}-{fake(13, '0123456789')}-{fake(64, HEX)}»",
        ),
        false_positives=("Slack tokens start with xoxb- or xoxp-", "xoxb-your-slack-token", "love you, xoxo-forever"),
    ),
    key_format(
        "slack_webhook",
        anchors=("hooks.slack.com/",),
        pattern=r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9+/]{30,120})",
        true_positives=(
            f"https://hooks.slack.com/services/«T{fake(8, UPPER)}/B{fake(10, UPPER)}/{fake(24)}»",
            f"post to hooks.slack.com/workflows/«T{fake(8, UPPER)}/A{fake(10, UPPER)}/{fake(30)}» daily",
            f"<https://hooks.slack.com/triggers/«E{fake(10, UPPER)}/{fake(13, '0123456789')}/{fake(32, HEX)}»>",
        ),
        false_positives=(
            "https://hooks.slack.com/services/T000/B000/XXXX",
            "read hooks.slack.com/services documentation",
            "hooks.slack.com/",
        ),
    ),
    key_format(
        "discord_webhook",
        anchors=("discord.com/api/", "discordapp.com/api/"),
        pattern=r"discord(?:app)?\.com/api/(?:v[0-9]{1,2}/)?webhooks/[0-9]{17,20}/(?P<secret>[A-Za-z0-9_\-]{60,80})",
        true_positives=(
            f"https://discord.com/api/webhooks/{fake(18, '123456789')}/«{fake(68, BASE64URL)}»",
            f"https://discordapp.com/api/webhooks/{fake(19, '123456789')}/«{fake(68)}»",
            f"POST discord.com/api/v10/webhooks/{fake(18, '123456789')}/«{fake(68)}»",
        ),
        false_positives=(
            "https://discord.com/api/webhooks/<id>/<token>",
            "https://discord.com/api/v10/users/@me",
            f"https://discord.com/api/webhooks/{fake(18, '123456789')}",
        ),
    ),
    Rule(
        name="discord_bot_token",
        type="api_key",
        when=long_word,
        pattern=first("[MNO]", r"[\w.\-]")
        + r"[A-Za-z0-9_\-]{23,27}\.[A-Za-z0-9_\-]{6}\.[A-Za-z0-9_\-]{27,38}(?![\w\-])",
        true_positives=(
            f"DISCORD_TOKEN=«M{fake(23)}.{fake(6)}.{fake(27, BASE64URL)}»",
            f"the bot logs in with «O{fake(25)}.{fake(6)}.{fake(38)}»",
            f"'«N{fake(23)}.{fake(6)}.{fake(27)}a»'",
        ),
        false_positives=(
            "MyCompany.Backend.Services.Authentication.TokenProvider",
            f"M{fake(23)}.{fake(6)}",
            f"N{fake(10)}.{fake(6)}.{fake(27)}",
        ),
    ),
    Rule(
        name="telegram_bot_token",
        type="api_key",
        when=long_word,
        anchors=(":a",),
        pattern=r"(?<=[0-9]{8}):A[A-Za-z0-9_\-]{34}(?![A-Za-z0-9_\-])",
        check=_with_bot_id,
        true_positives=(
            f"TELEGRAM_TOKEN=«{fake(10, '123456789')}:AA{fake(33, BASE64URL)}»",
            f"https://api.telegram.org/bot«{fake(9, '123456789')}:AA{fake(33)}»/getMe",
            f"BotFather gave me «{fake(8, '123456789')}:AA{fake(33)}»",
        ),
        false_positives=(
            "at 12345678:AM the job ran",
            f"{fake(10, '123456789')}:{fake(12)}",
            f"{fake(5, '123456789')}:AA{fake(33)}",
        ),
    ),
    key_format(
        "twilio_key",
        anchors=("sk", "twilio"),
        pattern=r"(?:SK[0-9a-f]{32}|(?i:twilio)[^\n]{0,40}?(?<![0-9A-Za-z])(?P<secret>[0-9a-f]{32}))" + WORD_END,
        true_positives=(
            f"TWILIO_API_KEY=«SK{fake(32, HEX)}»",
            f"the Twilio auth token is «{fake(32, HEX)}»",
            f"twilio: «{fake(32, HEX)}»",
        ),
        false_positives=(
            f"account AC{fake(32, HEX)}",
            f"SK{fake(30, HEX)}",
            f"md5 {fake(32, HEX)}",
        ),
    ),
    key_format(
        "sendgrid_key",
        anchors=("sg.",),
        pattern=r"SG\.[A-Za-z0-9_\-]{16,32}\.[A-Za-z0-9_\-]{20,64}",
        true_positives=(
            f"SENDGRID_API_KEY=«SG.{fake(22, BASE64URL)}.{fake(43, BASE64URL)}»",
            f"mail goes out with «SG.{fake(22)}.{fake(43)}»",
            f"(«SG.{fake(22)}.{fake(43)}»)",
        ),
        false_positives=("MSG.configuration_settings.defaults", "SG.short.value", "buy it at example.sg."),
    ),
    key_format(
        "mailgun_key",
        anchors=("key-", "pubkey-"),
        pattern=r"(?:pub)?key-[0-9a-f]{32}" + WORD_END,
        true_positives=(
            f"MAILGUN_API_KEY=«key-{fake(32, HEX)}»",
            f"curl --user api:«key-{fake(32, HEX)}»",
            f"validation uses «pubkey-{fake(32, HEX)}»",
        ),
        false_positives=("a key-value store for sessions", f"monkey-{fake(32, HEX)}", f"key-{fake(16, HEX)}"),
    ),
    Rule(
        name="mailchimp_key",
        type="api_key",
        when=long_word,
        anchors=("-us",),
        pattern=r"(?<=[0-9a-f]{32})-us[0-9]{1,2}" + WORD_END,
        check=partial(with_head, 32),
        true_positives=(
            f"MAILCHIMP=«{fake(32, HEX)}-us12»",
            f"audience key «{fake(32, HEX)}-us6».",
            f'"«{fake(32, HEX)}-us21»"',
        ),
        false_positives=(f"{fake(32, HEX)}-eu1", f"{fake(30, HEX)}-us6", f"image {fake(32, HEX)}-used"),
    ),
    key_format(
        "mail_service_key",
        anchors=("xkeysib-", "re_", "pmak-"),
        pattern=(
            r"(?:xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}|re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,30}|PMAK-[a-f0-9]{24}-[a-f0-9]{34})"
            + WORD_END
        ),
        true_positives=(
            f"BREVO=«xkeysib-{fake(64, HEX)}-{fake(16, ALNUM)}»",
            f"RESEND_API_KEY=«re_{fake(8)}_{fake(24)}»",
            f"Postman: «PMAK-{fake(24, HEX)}-{fake(34, HEX)}»",
        ),
        false_positives=("re_compiled_pattern_cache", "PMAK-tool-for-postman", "xkeysib-placeholder"),
    ),
)
