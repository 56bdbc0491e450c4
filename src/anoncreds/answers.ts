/** Whether a proof answers what a request asks, all of it and nothing else, and says what its parts prove (wire.md 10). */
import { VerificationError } from '../credentials/verification-error.ts'
import { attributeKey } from '../schemas/anoncreds-schema.ts'
import { encodeValue } from './encode.ts'
import type { Presentation, PresentationRequest } from './proof-model.ts'

/** Predicates as proofs write them. */
const predicateTypes = { '>=': 'GE', '>': 'GT', '<=': 'LE', '<': 'LT' } as const

/**
 * Compares a proof with a request. An attribute may be kept back: that one has it is proved then, and not what it is.
 *
 * @throws {VerificationError} `malformed`, `claim-missing`, `signature`
 */
export function checkAnswers(
  { proof, requested_proof: said, identifiers }: Presentation,
  request: PresentationRequest,
): void {
  const {
    revealed_attrs: revealed,
    unrevealed_attrs: unrevealed,
    self_attested_attrs: selfAttested,
    predicates,
  } = said
  const { requested_attributes: attributes, requested_predicates: wanted } = request
  if (identifiers.length === 0) throw malformed('it is of no credential')
  if (identifiers.length !== proof.proofs.length)
    throw malformed(`it has ${proof.proofs.length} parts for ${identifiers.length} credentials`)
  const [own] = Object.keys(selfAttested)
  if (own !== undefined) throw missing(`The attribute ${own} is the prover’s own word, and no credential’s`)
  mustBeSame('attribute', Object.keys(attributes), [...Object.keys(revealed), ...Object.keys(unrevealed)])
  mustBeSame('predicate', Object.keys(wanted), Object.keys(predicates))
  const part = (index: number) => {
    const found = proof.proofs[index]
    if (!found) throw malformed(`it has no part ${index}`)
    return found.primary_proof
  }

  for (const [reference, { sub_proof_index: index, raw, encoded }] of Object.entries(revealed)) {
    const signed = ownMember(part(index).eq_proof.revealed_attrs, attributeKey(attributes[reference]!.name))
    // What is proved is the number alone: without this a prover could show any text beside it.
    if (signed !== encoded || encodeValue(raw) !== encoded)
      throw new VerificationError(
        'signature',
        `The text that is shown for ${reference} is not the one that was signed`,
      )
  }
  for (const [reference, { sub_proof_index: index }] of Object.entries(unrevealed)) {
    const { revealed_attrs, m } = part(index).eq_proof
    const key = attributeKey(attributes[reference]!.name)
    if (ownMember(m, key) === undefined && ownMember(revealed_attrs, key) === undefined)
      throw missing(`The credential that is named for ${reference} has no such attribute`)
  }
  for (const [reference, { sub_proof_index: index }] of Object.entries(predicates)) {
    const { name, p_type, p_value } = wanted[reference]!
    const isProved = part(index).ge_proofs.some(
      ({ predicate }) =>
        attributeKey(predicate.attr_name) === attributeKey(name) &&
        predicate.p_type === predicateTypes[p_type] &&
        predicate.value === p_value,
    )
    if (!isProved) throw missing(`It is not proved for ${reference} that ${name} ${p_type} ${p_value}`)
  }
  // Each predicate takes a second to verify, also one that is proved again, and nobody else's proof is verified meanwhile.
  proof.proofs.forEach(({ primary_proof: { ge_proofs } }, index) => {
    const answered = (all: Record<string, { sub_proof_index: number }>) =>
      Object.values(all).filter(({ sub_proof_index }) => sub_proof_index === index).length
    if (answered(revealed) + answered(unrevealed) + answered(predicates) === 0)
      throw malformed(`its part ${index} answers nothing`)
    if (answered(predicates) < ge_proofs.length)
      throw malformed(`its part ${index} proves more predicates than it answers`)
  })
}

function mustBeSame(what: string, asked: string[], answered: string[]): void {
  const open = asked.find((reference) => !answered.includes(reference))
  if (open !== undefined) throw missing(`The ${what} ${open} is not answered`)
  const surplus = answered.find(
    (reference, index) => !asked.includes(reference) || answered.indexOf(reference) !== index,
  )
  if (surplus !== undefined) throw malformed(`the ${what} ${surplus} was not asked for, or is answered twice`)
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
