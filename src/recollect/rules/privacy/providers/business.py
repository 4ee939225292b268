"""Payments, shops, monitoring and office tools: Stripe, Shopify, Square, Sentry, Grafana, Notion, Linear and others."""

from recollect.rules.privacy.examples import BASE64URL, HEX, UPPER, fake
from recollect.rules.privacy.providers.key_format import key_format
from recollect.rules.privacy.rule import WORD_END, has_digit

RULES = (
    key_format(
        "stripe_key",
        anchors=("sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"),
        pattern=r"(?:[rs]k_(?:live|test)_[A-Za-z0-9]{10,200}|whsec_[A-Za-z0-9+/=]{24,80})",
        true_positives=(
            f"STRIPE_SECRET_KEY=«sk_live_{fake(24)}»",
            f"in tests use «sk_test_{fake(99)}»",
            f"restricted: «rk_live_{fake(24)}», in tests «rk_test_{fake(24)}»",
            f"the webhook is signed with «whsec_{fake(32)}»",
        ),
        false_positives=(
            f"pk_live_{fake(24)} is the publishable key",
            "sk_live_ keys are secret",
            "risk_test_results_for_q3",
        ),
    ),
    key_format(
        "square_or_paypal_token",
        anchors=("sq0atp-", "sq0csp-", "eaaa", "access_token$"),
        pattern=(
            r"(?:sq0(?:atp|csp)-[A-Za-z0-9_\-]{22,60}|EAAA[A-Za-z0-9_\-]{56,64}"
            r"|access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32})" + WORD_END
        ),
        true_positives=(
            f"SQUARE=«sq0atp-{fake(22, BASE64URL)}»",
            f"application secret «sq0csp-{fake(43)}»",
            f"«EAAA{fake(60)}»",
            f"Braintree: «access_token$production${fake(16, HEX)}${fake(32, HEX)}»",
        ),
        false_positives=("sq0atp-placeholder", "EAAA is a trade association", "access_token$sandbox$example"),
    ),
    key_format(
        "shopify_token",
        anchors=("shpat_", "shpca_", "shppa_", "shpss_", "shptka_"),
        pattern=r"shp(?:at|ca|pa|ss|tka)_[a-fA-F0-9]{32}" + WORD_END,
        true_positives=(
            f"X-Shopify-Access-Token: «shpat_{fake(32, HEX)}»",
            f"app secret «shpss_{fake(32, HEX)}»",
            f"(«shppa_{fake(32, HEX)}»)",
            f"custom app «shpca_{fake(32, HEX)}»",
            f"token exchange «shptka_{fake(32, HEX)}»",
        ),
        false_positives=("shpat_ marks an admin token", f"shpat_{fake(20, HEX)}", "shpat_your_access_token_goes_here"),
    ),
    key_format(
        "monitoring_key",
        anchors=("sntrys_", "sntryu_", "glsa_", "glc_", "nrak-", "phx_", "dt0c01."),
        pattern=(
            r"(?:sntrys_[A-Za-z0-9+/=_\-]{60,400}|sntryu_[a-f0-9]{64}|glsa_[A-Za-z0-9]{32}_[a-f0-9]{8}"
            r"|glc_[A-Za-z0-9+/=]{32,400}|NRAK-[A-Z0-9]{27}|phx_[A-Za-z0-9]{40,60}"
            r"|dt0c01\.[A-Z0-9]{24}\.[A-Z0-9]{64})"
        ),
        true_positives=(
            f"SENTRY_AUTH_TOKEN=«sntryu_{fake(64, HEX)}»",
            f"Grafana: «glsa_{fake(32)}_{fake(8, HEX)}»",
            f"new relic «NRAK-{fake(27, UPPER)}»",
            f"«sntrys_{fake(120, BASE64URL)}» for the organisation",
            f"Grafana Cloud «glc_{fake(100)}»",
            f"PostHog «phx_{fake(47)}»",
            f"Dynatrace «dt0c01.{fake(24, UPPER)}.{fake(64, UPPER)}»",
        ),
        false_positives=("glsa_rollout_plan_for_grafana", "NRAK-key", "phx_generators_for_liveview"),
    ),
    key_format(
        "office_tool_key",
        anchors=("secret_", "ntn_", "lin_api_", "figd_", "pat", "sl.", "dp.pt.", "dp.st.", "ops_eyj"),
        pattern=(
            r"(?:secret_[A-Za-z0-9]{43}|ntn_[A-Za-z0-9]{40,50}|lin_api_[A-Za-z0-9]{32,48}|figd_[A-Za-z0-9_\-]{38,48}"
            r"|pat[A-Za-z0-9]{14}\.[a-f0-9]{64}|sl\.(?:u\.)?[A-Za-z0-9_\-]{130,300}|dp\.(?:pt|st)\.[A-Za-z0-9.]{40,60}"
            r"|ops_eyJ[A-Za-z0-9+/=_\-]{200,1200})" + WORD_END
        ),
        check=has_digit,
        true_positives=(
            f"NOTION_TOKEN=«ntn_{fake(46)}»",
            f"Linear: «lin_api_{fake(40)}»",
            f"figma «figd_{fake(40, BASE64URL)}a»",
            f"Airtable «pat{fake(14)}.{fake(64, HEX)}»",
            f"old Notion «secret_{fake(43)}»",
            f"Dropbox «sl.{fake(140, BASE64URL)}a»",
            f"Doppler «dp.pt.{fake(43)}»",
            f"Doppler service «dp.st.{fake(43)}»",
            f"1Password «ops_eyJ{fake(400)}»",
        ),
        false_positives=(
            "secret_santa_gift_list_for_the_office",
            "ntn_transport_networks",
            "the path.to.module is wrong",
        ),
    ),
    key_format(
        "meta_access_token",
        anchors=("eaa", "igq"),
        pattern=r"(?:EAA[A-Za-z0-9]{100,300}|IGQ[A-Za-z0-9_\-]{100,300})" + WORD_END,
        check=has_digit,
        true_positives=(
            f"page token «EAA{fake(180)}»",
            f"graph.facebook.com/me?access_token=«EAAG{fake(150)}»",
            f"instagram «IGQ{fake(140, BASE64URL)}a»",
        ),
        false_positives=("the EAA directive on accessibility", f"EAA{fake(40)}", "IGQ index"),
    ),
)
