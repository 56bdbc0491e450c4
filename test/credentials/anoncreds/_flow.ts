/** An issuer's definition with a stored key, because generating one takes seconds, and its credentials. */
import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { createEngine, type Engine } from '../../../src/credentials/anoncreds/engine.ts'
import {
  CredentialDefinition,
  DefinitionPrivateKey,
  KeyCorrectnessProof,
  PrimaryPublicKey,
} from '../../../src/credentials/anoncreds/model.ts'
import type { PresentationRequest } from '../../../src/credentials/anoncreds/presentation.ts'
import { AnonCredsSchema } from '../../../src/credentials/schemas/anoncreds-schema.ts'

const Fixture = z.object({
  schema: AnonCredsSchema,
  primary: PrimaryPublicKey,
  privateKey: DefinitionPrivateKey,
  keyCorrectnessProof: KeyCorrectnessProof,
})

/** The schema and the keys of a definition. */
export const made = Fixture.parse(JSON.parse(readFileSync('fixtures/anoncreds/definition.json', 'utf8')))

export const schemaId = 'https://issuer.example/schema'
export const credDefId = 'https://issuer.example/definition'
export const definition: CredentialDefinition = {
  schemaId,
  type: 'CL',
  tag: 'test',
  issuerId: made.schema.issuerId,
  value: { primary: made.primary },
}
export const known = { schemas: { [schemaId]: made.schema }, definitions: { [credDefId]: definition } }
export const values = { 'Given Name': 'Alice', age: '30', country: 'SE' }

export const request: PresentationRequest = {
  name: 'age check',
  version: '1.0',
  nonce: '1234567890',
  requested_attributes: { name: { name: 'Given Name', restrictions: [{ cred_def_id: credDefId }] } },
  requested_predicates: { adult: { name: 'age', p_type: '>=', p_value: 18, restrictions: [] } },
}

/** An engine that is closed at the end of a test. */
export function openEngine(change: Parameters<typeof createEngine>[0] = {}) {
  const engine = createEngine(change)
  return { ...engine, [Symbol.asyncDispose]: () => engine.close() }
}

/** A credential of a holder with a link secret, with all messages between the two. */
export async function issue(engine: Engine, linkSecret: string) {
  const offer = await engine.createOffer({
    schemaId,
    credDefId,
    keyCorrectnessProof: made.keyCorrectnessProof,
  })
  const { request, metadata } = await engine.createRequest({ definition, linkSecret, offer })
  const issued = await engine.createCredential({
    definition,
    privateKey: made.privateKey,
    offer,
    request,
    values,
  })
  return {
    offer,
    request,
    metadata,
    issued,
    credential: await engine.processCredential({ credential: issued, metadata, linkSecret, definition }),
  }
}
