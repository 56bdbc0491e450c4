/**
 * Verification of AnonCreds proofs (wire.md 10; decisions.md 6).
 *
 * The library establishes that the numbers were signed by the definitions' keys, for one link secret, and that the proof was made for this
 * nonce. What it does not look at is established here: that the texts are those of the numbers, that schemas are those of the definitions,
 * and restrictions.
 */
import { isTemporary, Problem } from '../base/problem.ts'
import { reasonOf } from '../base/reason.ts'
import { parseJson } from '../credentials/json.ts'
import { VerificationError } from '../credentials/verification-error.ts'
import type { AnonCredsSchema } from '../schemas/anoncreds-schema.ts'
import { attributeKey } from '../schemas/anoncreds-schema.ts'
import { checkAnswers } from './answers.ts'
import type { Engine } from './engine.ts'
import { AnonCredsError } from './error.ts'
import type { CredentialDefinition } from './model.ts'
import { Presentation, type PresentationRequest } from './proof-model.ts'
import { findUnmet, type Source } from './restrictions.ts'
import { findMisfit } from './strength.ts'

/** Where schemas and definitions come from, and who calculates. */
export type Sources = {
  readonly anoncreds: Pick<Engine, 'verifyPresentation'>
  getAnonCredsSchema(url: string): Promise<AnonCredsSchema>
  getCredentialDefinition(url: string): Promise<CredentialDefinition>
  vouchesForIssuer(url: string): boolean
}

/** What a proof has shown. */
export type Shown = {
  /** The texts of the attributes that are revealed, by the references of the request. */
  revealed: Record<string, string>
  /** The credentials that were used. An issuer for whom nobody vouches is left out. */
  credentials: { issuerDid?: string; schemas: string[] }[]
}

/** A credential that was used, with what calculates. */
type Used = Source & { schema: AnonCredsSchema; definition: CredentialDefinition }

/** Longer than any proof of 20 credentials with all their attributes. */
const maxLength = 2_000_000

/**
 * Verifies a proof, JSON as text, against the request that it answers.
 *
 * @throws {VerificationError} with the reason; `Problem` 503 when a check cannot be made for now.
 */
export async function verifyProof(
  text: string,
  request: PresentationRequest,
  sources: Sources,
): Promise<Shown> {
  const presentation = read(text)
  checkAnswers(presentation, request)
  const used = await Promise.all(
    presentation.identifiers.map((_, index) => readSource(presentation, request, index, sources)),
  )
  checkRestrictions(presentation, request, used)
  const schemas = Object.fromEntries(used.map(({ schemaId, schema }) => [schemaId, schema]))
  const definitions = Object.fromEntries(used.map(({ credDefId, definition }) => [credDefId, definition]))
  const input = { presentation, request: withoutRestrictions(request), schemas, definitions }
  const holds = await refusing('signature', () => sources.anoncreds.verifyPresentation(input))
  if (!holds)
    throw new VerificationError(
      'signature',
      'The proof does not hold: it was made for another request, or of what no issuer signed',
    )
  const { revealed_attrs: revealed } = presentation.requested_proof
  return {
    revealed: Object.fromEntries(Object.entries(revealed).map(([reference, { raw }]) => [reference, raw])),
    credentials: used.map(({ definition, vouched, schemaId }) => ({
      ...(vouched.definition && { issuerDid: definition.issuerId }),
      schemas: [schemaId],
    })),
  }
}

function read(text: string): Presentation {
  if (text.length > maxLength)
    throw new VerificationError('too-large', `The proof has more than ${maxLength} characters`)
  try {
    return Presentation.parse(parseJson(Buffer.from(text)))
  } catch (cause) {
    throw new VerificationError('malformed', `The proof cannot be read: ${reasonOf(cause)}`, { cause })
  }
}

/** The credential that a part of the proof is of. */
async function readSource(
  { identifiers, requested_proof: said }: Presentation,
  request: PresentationRequest,
  index: number,
  sources: Sources,
): Promise<Used> {
  const { schema_id: schemaId, cred_def_id: credDefId } = identifiers[index]!
  const [schema, definition] = await refusing('issuer-unresolvable', () =>
    Promise.all([sources.getAnonCredsSchema(schemaId), sources.getCredentialDefinition(credDefId)]),
  )
  // The library does not compare them: a prover could name a schema that says more than the one that was signed.
  if (definition.schemaId !== schemaId)
    throw notAccepted(`The definition ${credDefId} is for another schema than ${schemaId}`)
  const misfit = findMisfit(definition, schema)
  if (misfit !== undefined)
    throw notAccepted(`The definition ${credDefId} does not fit its schema: ${misfit}`)
  const shown = Object.entries(said.revealed_attrs)
    .filter(([, { sub_proof_index }]) => sub_proof_index === index)
    .map(
      ([reference, { raw }]) => [attributeKey(request.requested_attributes[reference]!.name), raw] as const,
    )
  const vouched = {
    schema: sources.vouchesForIssuer(schemaId),
    definition: sources.vouchesForIssuer(credDefId),
  }
  const attributes = new Set(schema.attrNames.map(attributeKey))
  return {
    schemaId,
    credDefId,
    issuerId: definition.issuerId,
    schema,
    definition,
    attributes,
    vouched,
    shown: new Map(shown),
  }
}

/** Every answer is from a credential that the request takes for it. */
function checkRestrictions(
  { requested_proof: said }: Presentation,
  request: PresentationRequest,
  used: readonly Source[],
): void {
  const { revealed_attrs, unrevealed_attrs, predicates } = said
  const answers = [
    [request.requested_attributes, { ...revealed_attrs, ...unrevealed_attrs }],
    [request.requested_predicates, predicates],
  ] as const
  for (const [asked, answered] of answers) {
    for (const [reference, { restrictions }] of Object.entries(asked)) {
      const unmet = findUnmet(restrictions, used[answered[reference]!.sub_proof_index]!)
      if (unmet !== undefined)
        throw notAccepted(`The credential for ${reference} is not one that was asked for: ${unmet}`)
    }
  }
}

/** Restrictions have been judged by `findUnmet`; the library's own judgement of them differs. */
function withoutRestrictions(request: PresentationRequest): PresentationRequest {
  const freed = <Each extends object>(asked: Record<string, Each>) =>
    Object.fromEntries(
      Object.entries(asked).map(([reference, each]) => [reference, { ...each, restrictions: [] }]),
    )
  return {
    ...request,
    requested_attributes: freed(request.requested_attributes),
    requested_predicates: freed(request.requested_predicates),
  }
}

/** Does what may be refused for what the proof is. */
async function refusing<Result>(
  code: 'signature' | 'issuer-unresolvable',
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (cause) {
    const isFault = cause instanceof AnonCredsError || (cause instanceof Problem && !isTemporary(cause))
    if (!isFault) throw cause
    throw new VerificationError(code, `The proof does not hold: ${cause.message.replace(/\.$/, '')}`, {
      cause,
    })
  }
}

function notAccepted(detail: string): VerificationError {
  return new VerificationError('schema-not-accepted', detail)
}
