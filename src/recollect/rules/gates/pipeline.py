"""List the gates that need nothing but the candidate. Checks against the store follow in ``engine.ingest``."""

from collections.abc import Mapping

from recollect.rules.gates.classification import classify_gate, retention_gate, write_policy_gate
from recollect.rules.gates.content import length_gate, namespace_gate, noise_gate
from recollect.rules.gates.draft import Context, Draft, Gate, Rejection
from recollect.rules.gates.naming import naming_gate
from recollect.rules.gates.procedures import place_gate, steps_gate
from recollect.rules.gates.writing import writing_gate
from recollect.rules.privacy.gate import privacy_gate
from recollect.rules.time.validity import validity_gate
from recollect.rules.trust.borders import border_gate

GATES: Mapping[str, Gate] = {
    "place": place_gate,
    "namespace": namespace_gate,
    "border": border_gate,
    "classify": classify_gate,
    "write_policy": write_policy_gate,
    "retention": retention_gate,
    "steps": steps_gate,
    "noise": noise_gate,
    "writing": writing_gate,
    "length": length_gate,
    "privacy": privacy_gate,
    "validity": validity_gate,
    "naming": naming_gate,
}


def pass_gates(draft: Draft, context: Context) -> Draft | Rejection:
    """Run a draft through every gate in the order of the policy; the first refusal ends it."""
    for name in context.policy.gates.order:
        answer = GATES[name](draft, context)
        if isinstance(answer, Rejection):
            return answer
        draft = answer
    return draft
