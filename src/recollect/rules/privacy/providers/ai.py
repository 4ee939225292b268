"""Language models and what agents call beside them: OpenAI, Anthropic, Hugging Face, LangSmith and others."""

import re

from recollect.rules.privacy.examples import BASE64URL, HEX, LOWER, fake
from recollect.rules.privacy.providers.key_format import key_format
from recollect.rules.privacy.rule import WORD_END, Span, compiled

_RANDOM_RUN = r"[A-Za-z0-9]{20}|(?=[A-Za-z]{0,11}[0-9])[A-Za-z0-9]{12}"


def _with_random_run(match: re.Match[str]) -> Span | None:
    """``sk-`` is also how "sk-learn-compatible-estimators" begins; a key has a long stretch without a dash."""
    return match.span() if compiled(_RANDOM_RUN).search(match[0]) else None


RULES = (
    key_format(
        "openai_style_key",
        anchors=("sk-",),
        pattern=r"(?<![_\-])sk-(?!ant-)[A-Za-z0-9_\-]{13,300}",
        check=_with_random_run,
        true_positives=(
            f"OPENAI_API_KEY=«sk-{fake(20)}T3BlbkFJ{fake(20)}»",
            f"my key is «sk-proj-{fake(48, BASE64URL)}»",
            f"OpenRouter: «sk-or-v1-{fake(64, HEX)}»",
            f"DeepSeek wants «sk-{fake(32, HEX)}»",
        ),
        false_positives=(
            "use sk-learn-compatible-estimators wherever possible",
            "the task-0123456789abcdef0123 failed",
            "pip install sk-learn-0.24.2",
            "sk-your-key-goes-in-here",
        ),
    ),
    key_format(
        "anthropic_key",
        anchors=("sk-ant-",),
        pattern=r"(?<![_\-])sk-ant-[A-Za-z0-9_\-]{16,300}",
        check=_with_random_run,
        true_positives=(
            f"ANTHROPIC_API_KEY=«sk-ant-api03-{fake(93, BASE64URL)}AA»",
            f"«sk-ant-admin01-{fake(93)}»",
            f"session «sk-ant-sid01-{fake(80)}», keep it safe",
        ),
        false_positives=(
            "keys look like sk-ant-api03-...",
            "sk-ant-your-key-goes-in-here",
            "disk-ant-colony-optimisation-notes",
        ),
    ),
    key_format(
        "hugging_face_token",
        anchors=("hf_", "api_org_"),
        pattern=r"(?:hf|api_org)_[A-Za-z0-9]{20,60}" + WORD_END,
        true_positives=(
            f"HF_TOKEN=«hf_{fake(34)}»",
            f"huggingface-cli login --token «hf_{fake(34)}»",
            f"«api_org_{fake(34)}»",
        ),
        false_positives=("call hf_hub_download for the weights", f"hf_{fake(12)}", "set hf_transfer to 1"),
    ),
    key_format(
        "model_provider_key",
        anchors=("gsk_", "xai-", "pplx-", "r8_", "fw_", "nvapi-", "tgp_v1_", "csk-", "jina_", "pa-"),
        pattern=(
            r"(?:gsk_[A-Za-z0-9]{40,60}|xai-[A-Za-z0-9]{60,90}|pplx-[A-Za-z0-9]{40,60}|r8_[A-Za-z0-9]{37}"
            r"|fw_[A-Za-z0-9]{22,30}|nvapi-[A-Za-z0-9_\-]{60,70}|tgp_v1_[A-Za-z0-9_\-]{40,50}|csk-[a-z0-9]{40,60}"
            r"|jina_[A-Za-z0-9]{50,70}|pa-[A-Za-z0-9_\-]{40,50})" + WORD_END
        ),
        check=_with_random_run,
        true_positives=(
            f"GROQ_API_KEY=«gsk_{fake(52)}»",
            f"xAI: «xai-{fake(80)}»",
            f"REPLICATE_API_TOKEN=«r8_{fake(37)}»",
            f"nvidia «nvapi-{fake(64, BASE64URL)}a»",
            f"perplexity «pplx-{fake(48)}»",
            f"fireworks «fw_{fake(24)}»",
            f"together «tgp_v1_{fake(43)}»",
            f"cerebras «csk-{fake(48, LOWER)}»",
            f"jina «jina_{fake(60)}»",
            f"voyage «pa-{fake(43)}»",
        ),
        false_positives=("gsk_pharmaceuticals_report_2024", "xai-explainability-toolkit", f"r8_{fake(12)}"),
    ),
    key_format(
        "agent_service_key",
        anchors=("lsv2_", "tvly-", "pcsk_", "e2b_", "fc-", "bb_live_", "m0-"),
        pattern=(
            r"(?:lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}|tvly-(?:dev-|prod-)?[A-Za-z0-9]{30,50}"
            r"|pcsk_[A-Za-z0-9_]{60,80}|e2b_[a-f0-9]{40}|fc-[a-f0-9]{32}|bb_live_[A-Za-z0-9_\-]{24,40}"
            r"|m0-[A-Za-z0-9]{36,48})" + WORD_END
        ),
        true_positives=(
            f"LANGSMITH_API_KEY=«lsv2_pt_{fake(32, HEX)}_{fake(10, HEX)}»",
            f"search with «tvly-dev-{fake(32)}»",
            f"«pcsk_{fake(6)}_{fake(63)}»",
            f"E2B_API_KEY=«e2b_{fake(40, HEX)}»",
            f"firecrawl «fc-{fake(32, HEX)}»",
            f"browserbase «bb_live_{fake(27)}»",
            f"mem0 «m0-{fake(40)}»",
        ),
        false_positives=("lsv2_project_settings_page", "tvly-search-wrapper-for-agents", "pcsk_inhibitors_in_trials"),
    ),
)
