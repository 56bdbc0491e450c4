/**
 * Verifies AnonCreds proofs.
 *
 * The library verifies that the keys of the definitions signed the numbers, for one link secret, and that the
 * proof is for this nonce. This file checks the rest: that the texts encode the numbers, that the schemas are
 * those of the definitions, and restrictions.
 */
import { isTemporary, Problem } from '../../foundation/problem.ts'
import { reasonOf } from '../../foundation/reason.ts'
import { parseJson } from '../../foundation/json.ts'
import { VerificationError } from '../codecs/verification-error.ts'
import { attributeKey, type AnonCredsSchema } from '../schemas/anoncreds-schema.ts'
import { checkAnswers } from './answers.ts'
import { AnonCredsError, type Engine } from './engine.ts'
import type { CredentialDefinition } from './model.ts'
import { Presentation, type PresentationRequest } from './presentation.ts'
import { findSchemaMismatch } from './resolve.ts'
import { findUnmet, type Candidate } from './restrictions.ts'

export type Sources = {
  readonly anoncreds: Pick<Engine, 'verifyPresentation'>
  getAnonCredsSchema(url: string): Promise<AnonCredsSchema>
  getCredentialDefinition(url: string): Promise<CredentialDefinition>
  isIssuerAuthentic(url: string): boolean
}

export type VerifiedProof = {
  /** Revealed values by the references of the request. */
  revealed: Record<string, string>
  /** The credentials used. `issuerDid` is absent if the issuer is not authenticated. */
  credentials: { issuerDid?: string; schemas: string[]; definition: string }[]
}

type UsedCredential = Candidate & { schema: AnonCredsSchema; definition: CredentialDefinition }

/** Exceeds a proof of 20 credentials with all their attributes. */
const maxCharacters = 2_000_000

/**
 * Verifies a proof (JSON text) against its request.
 *
 * @throws {VerificationError} with the reason; `Problem` 503 when a check is temporarily impossible.
 */
export async function verifyProof(
  text: string,
  request: PresentationRequest,
  sources: Sources,
): Promise<VerifiedProof> {
  const presentation = parse(text)
  checkAnswers(presentation, request)
  const used = await Promise.all(
    presentation.identifiers.map((_, index) => readCredential(presentation, request, index, sources)),
  )
  checkRestrictions(presentation, request, used)
  const schemas = Object.fromEntries(used.map(({ schemaId, schema }) => [schemaId, schema]))
  const definitions = Object.fromEntries(used.map(({ credDefId, definition }) => [credDefId, definition]))
  const input = { presentation, request: withoutRestrictions(request), schemas, definitions }
  const isValid = await orRefuse('signature', () => sources.anoncreds.verifyPresentation(input))
  if (!isValid)
    throw new VerificationError(
      'signature',
      'The proof is invalid: it is for another request, or the issuer did not sign the values',
    )
  const { revealed_attrs: revealed } = presentation.requested_proof
  return {
    revealed: Object.fromEntries(Object.entries(revealed).map(([reference, { raw }]) => [reference, raw])),
    credentials: used.map(({ definition, credDefId, isAuthentic, schemaId }) => ({
      ...(isAuthentic.definition && { issuerDid: definition.issuerId }),
      schemas: [schemaId],
      definition: credDefId,
    })),
  }
}

function parse(text: string): Presentation {
  if (text.length > maxCharacters)
    throw new VerificationError('too-large', `The proof has more than ${maxCharacters} characters`)
  try {
    return Presentation.parse(parseJson(Buffer.from(text)))
  } catch (cause) {
    throw new VerificationError('malformed', `The proof cannot be read: ${reasonOf(cause)}`, { cause })
  }
}

/** Reads the schema and definition of the credential at an index of `identifiers`. */
async function readCredential(
  { identifiers, requested_proof }: Presentation,
  request: PresentationRequest,
  index: number,
  sources: Sources,
): Promise<UsedCredential> {
  const { schema_id: schemaId, cred_def_id: credDefId } = identifiers[index]!
  const [schema, definition] = await orRefuse('issuer-unresolvable', () =>
    Promise.all([sources.getAnonCredsSchema(schemaId), sources.getCredentialDefinition(credDefId)]),
  )
  // The library does not compare them, so a prover could name another schema.
  if (definition.schemaId !== schemaId)
    throw notAccepted(`The definition ${credDefId} is for another schema than ${schemaId}`)
  const mismatch = findSchemaMismatch(definition, schema)
  if (mismatch !== undefined)
    throw notAccepted(`The definition ${credDefId} does not match its schema: ${mismatch}`)
  const revealed = Object.entries(requested_proof.revealed_attrs)
    .filter(([, { sub_proof_index }]) => sub_proof_index === index)
    .map(
      ([reference, { raw }]) => [attributeKey(request.requested_attributes[reference]!.name), raw] as const,
    )
  const isAuthentic = {
    schema: sources.isIssuerAuthentic(schemaId),
    definition: sources.isIssuerAuthentic(credDefId),
  }
  const attributes = new Set(schema.attrNames.map(attributeKey))
  return {
    schemaId,
    credDefId,
    issuerId: definition.issuerId,
    schema,
    definition,
    attributes,
    isAuthentic,
    revealed: new Map(revealed),
  }
}

/** Every answer must come from a credential that satisfies the restrictions of its item. */
function checkRestrictions(
  { requested_proof }: Presentation,
  request: PresentationRequest,
  used: readonly Candidate[],
): void {
  const { revealed_attrs, unrevealed_attrs, predicates } = requested_proof
  const answers = [
    [request.requested_attributes, { ...revealed_attrs, ...unrevealed_attrs }],
    [request.requested_predicates, predicates],
  ] as const
  for (const [requested, answered] of answers) {
    for (const [reference, { restrictions }] of Object.entries(requested)) {
      const unmet = findUnmet(restrictions, used[answered[reference]!.sub_proof_index]!)
      if (unmet !== undefined)
        throw notAccepted(`The credential for ${reference} does not satisfy the request: ${unmet}`)
    }
  }
}

/** `findUnmet` has evaluated the restrictions. The library would evaluate them differently. */
function withoutRestrictions(request: PresentationRequest): PresentationRequest {
  const free = <Each extends object>(requested: Record<string, Each>) =>
    Object.fromEntries(
      Object.entries(requested).map(([reference, each]) => [reference, { ...each, restrictions: [] }]),
    )
  return {
    ...request,
    requested_attributes: free(request.requested_attributes),
    requested_predicates: free(request.requested_predicates),
  }
}

/** Converts faults of the proof to a `VerificationError`. */
async function orRefuse<Result>(
  code: 'signature' | 'issuer-unresolvable',
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (cause) {
    const isFault = cause instanceof AnonCredsError || (cause instanceof Problem && !isTemporary(cause))
    if (!isFault) throw cause
    throw new VerificationError(code, `The proof is invalid: ${cause.message.replace(/\.$/, '')}`, {
      cause,
    })
  }
}

function notAccepted(detail: string): VerificationError {
  return new VerificationError('schema-not-accepted', detail)
}
