/** What a holder proves (wire.md 10): with one credential, which is what the library can prove with. */
import type { Engine } from './engine.ts'
import type { Credential, CredentialDefinition } from './model.ts'
import type { Presentation, PresentationRequest } from './proof-model.ts'
import type { AnonCredsSchema } from '../schemas/anoncreds-schema.ts'

export type Proof = {
  request: PresentationRequest
  credential: Credential
  linkSecret: string
  schema: AnonCredsSchema
  definition: CredentialDefinition
  /** The references of attributes that the credential is proved to have, and which are not shown. */
  keptBack: readonly string[]
}

/**
 * Proves what a request asks for.
 *
 * The library shows every attribute that it is asked for. So it is not asked for what is kept back: the proof is for the nonce and the
 * credential, which has those attributes all the same, and it is said afterwards that they answer.
 *
 * @throws {AnonCredsError} when the credential does not answer the request.
 */
export async function createProof(
  engine: Pick<Engine, 'createPresentation'>,
  { request, credential, linkSecret, schema, definition, keptBack }: Proof,
): Promise<Presentation> {
  const shown = Object.entries(request.requested_attributes).filter(
    ([reference]) => !keptBack.includes(reference),
  )
  const presentation = await engine.createPresentation({
    request: { ...request, requested_attributes: Object.fromEntries(shown) },
    credential,
    linkSecret,
    schemas: { [credential.schema_id]: schema },
    definitions: { [credential.cred_def_id]: definition },
  })
  const unrevealed = Object.fromEntries(keptBack.map((reference) => [reference, { sub_proof_index: 0 }]))
  return {
    ...presentation,
    requested_proof: { ...presentation.requested_proof, unrevealed_attrs: unrevealed },
  }
}
