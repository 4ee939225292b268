"""The optional language model: what it is asked, what it answers, and who is asked.

Nothing here decides or stores anything. The caller checks what comes back (``rules/grounding``) and what it may use
(``rules/model_budget.py``). It is never called while a memory is written or read.
"""

from recollect.llm.protocol import Answer, Failure, Message, Model, ModelFailed, Prompt, Reply, Usage
from recollect.model.errors import BadPolicy, how_to_install
from recollect.model.policy_model import LanguageModel

__all__ = ["Answer", "Failure", "Message", "Model", "ModelFailed", "Prompt", "Reply", "Usage", "open_model"]


def open_model(settings: LanguageModel) -> Model | None:
    """Return the model that a policy configures, or None if it configures none.

    >>> open_model(LanguageModel()) is None
    True
    """
    if not settings.endpoint:
        return None
    try:
        from recollect.llm.endpoint import ChatEndpoint
    except ModuleNotFoundError as error:
        if error.name != "httpx":
            raise
        raise BadPolicy("needs the package httpx.", field="model.endpoint", hint=how_to_install("llm")) from error
    return ChatEndpoint(settings)
