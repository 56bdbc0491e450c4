/** Checks that a proof answers its request exactly, and that its statements match its cryptographic parts. */
import { VerificationError } from '../codecs/verification-error.ts'
import { attributeKey } from '../schemas/anoncreds-schema.ts'
import { encodeValue } from './model.ts'
import type { Presentation, PresentationRequest } from './presentation.ts'

/** The names of predicate types in proofs. */
const predicateTypes = { '>=': 'GE', '>': 'GT', '<=': 'LE', '<': 'LT' } as const

/**
 * Compares a proof with a request. For an unrevealed attribute, the proof shows its presence but not its
 * value.
 *
 * @throws {VerificationError} `malformed`, `claim-missing`, `signature`
 */
export function checkAnswers(
  { proof, requested_proof, identifiers }: Presentation,
  request: PresentationRequest,
): void {
  const {
    revealed_attrs: revealed,
    unrevealed_attrs: unrevealed,
    self_attested_attrs: selfAttested,
    predicates,
  } = requested_proof
  const { requested_attributes: attributes, requested_predicates: requestedPredicates } = request
  if (identifiers.length === 0) throw malformed('it names no credential')
  if (identifiers.length !== proof.proofs.length)
    throw malformed(`it has ${proof.proofs.length} parts for ${identifiers.length} credentials`)
  const [attested] = Object.keys(selfAttested)
  if (attested !== undefined)
    throw missing(`The attribute ${attested} is self-attested, not from a credential`)
  assertSameReferences('attribute', Object.keys(attributes), [
    ...Object.keys(revealed),
    ...Object.keys(unrevealed),
  ])
  assertSameReferences('predicate', Object.keys(requestedPredicates), Object.keys(predicates))
  const part = (index: number) => {
    const found = proof.proofs[index]
    if (!found) throw malformed(`it has no part ${index}`)
    return found.primary_proof
  }

  for (const [reference, { sub_proof_index: index, raw, encoded }] of Object.entries(revealed)) {
    const signed = ownMember(part(index).eq_proof.revealed_attrs, attributeKey(attributes[reference]!.name))
    // The proof covers the number only, so a prover could put any text beside it.
    if (signed !== encoded || encodeValue(raw) !== encoded)
      throw new VerificationError('signature', `The revealed value of ${reference} is not the signed value`)
  }
  for (const [reference, { sub_proof_index: index }] of Object.entries(unrevealed)) {
    const { revealed_attrs, m } = part(index).eq_proof
    const key = attributeKey(attributes[reference]!.name)
    if (ownMember(m, key) === undefined && ownMember(revealed_attrs, key) === undefined)
      throw missing(`The credential for ${reference} has no such attribute`)
  }
  for (const [reference, { sub_proof_index: index }] of Object.entries(predicates)) {
    const { name, p_type, p_value } = requestedPredicates[reference]!
    const isProved = part(index).ge_proofs.some(
      ({ predicate }) =>
        attributeKey(predicate.attr_name) === attributeKey(name) &&
        predicate.p_type === predicateTypes[p_type] &&
        predicate.value === p_value,
    )
    if (!isProved) throw missing(`The proof for ${reference} does not show that ${name} ${p_type} ${p_value}`)
  }
  assertNoSurplus(proof, requested_proof)
}

/**
 * Refuses parts and predicates that answer nothing. Verifying a predicate takes a second, during which no
 * other proof is verified.
 */
function assertNoSurplus(
  { proofs }: Presentation['proof'],
  { revealed_attrs, unrevealed_attrs, predicates }: Presentation['requested_proof'],
): void {
  proofs.forEach(({ primary_proof: { ge_proofs } }, index) => {
    const countAnswers = (answers: Record<string, { sub_proof_index: number }>) =>
      Object.values(answers).filter(({ sub_proof_index }) => sub_proof_index === index).length
    if (countAnswers(revealed_attrs) + countAnswers(unrevealed_attrs) + countAnswers(predicates) === 0)
      throw malformed(`its part ${index} answers nothing`)
    if (countAnswers(predicates) < ge_proofs.length)
      throw malformed(`its part ${index} proves more predicates than it answers`)
  })
}

function assertSameReferences(type: string, requested: string[], answered: string[]): void {
  const unanswered = requested.find((reference) => !answered.includes(reference))
  if (unanswered !== undefined) throw missing(`The ${type} ${unanswered} is not answered`)
  const surplus = answered.find(
    (reference, index) => !requested.includes(reference) || answered.indexOf(reference) !== index,
  )
  if (surplus !== undefined) throw malformed(`the ${type} ${surplus} was not requested, or is answered twice`)
}

function ownMember(all: Record<string, string>, name: string): string | undefined {
  return Object.hasOwn(all, name) ? all[name] : undefined
}

function malformed(reason: string): VerificationError {
  return new VerificationError('malformed', `The proof cannot be read: ${reason}`)
}

function missing(detail: string): VerificationError {
  return new VerificationError('claim-missing', detail)
}
