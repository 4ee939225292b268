"""The gates that need nothing but the candidate, in order. What needs the store comes after, in ``engine.ingest``."""

from recollect.rules.gates.classification import classify_gate, retention_gate, write_policy_gate
from recollect.rules.gates.content import length_gate, namespace_gate, noise_gate
from recollect.rules.gates.draft import Context, Draft, Gate, Rejection
from recollect.rules.gates.naming import naming_gate
from recollect.rules.gates.procedures import place_gate, steps_gate
from recollect.rules.privacy.gate import privacy_gate
from recollect.rules.time.validity import validity_gate
from recollect.rules.trust.borders import border_gate

GATES: tuple[Gate, ...] = (
    place_gate,
    namespace_gate,
    border_gate,
    classify_gate,
    write_policy_gate,
    retention_gate,
    steps_gate,
    noise_gate,
    length_gate,
    privacy_gate,
    validity_gate,
    naming_gate,
)


def pass_gates(draft: Draft, context: Context) -> Draft | Rejection:
    """Run a draft through every gate; the first no ends it."""
    for gate in GATES:
        answer = gate(draft, context)
        if isinstance(answer, Rejection):
            return answer
        draft = answer
    return draft
