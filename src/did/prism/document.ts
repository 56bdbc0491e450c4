/**
 * The DID document and metadata of a did:prism (PRISM DID Method, "DID Document"), in the form of the Cloud
 * Agent.
 */
import {
  didContext,
  type DidDocument,
  forPurposes,
  jsonWebKey,
  jws2020Context,
  type Purpose,
  purposes,
} from '../document.ts'
import type { DidDocumentMetadata } from '../resolution.ts'
import { toShortForm } from './did.ts'
import type { PrismKey } from './model.ts'
import { fromPrismService } from './service.ts'
import type { DidContent, DidState } from './state.ts'

/** JSON-LD contexts of service types. */
const serviceContexts: Readonly<Record<string, string>> = {
  DIDCommMessaging: 'https://didcomm.org/messaging/contexts/v2',
  LinkedDomains: 'https://identity.foundation/.well-known/did-configuration/v1',
}

/** The document of a state, for the short or long form `did`. Only keys with a purpose are part of it. */
export function toDocument(state: DidContent, did: string): DidDocument {
  const keys = state.publicKeys.filter((key): key is PrismKey & { usage: Purpose } =>
    purposes.some((purpose) => purpose === key.usage),
  )
  const services = state.services.map((service) => fromPrismService(did, service))
  const ids = (purpose: Purpose) =>
    keys.filter(({ usage }) => usage === purpose).map(({ id }) => `${did}#${id}`)
  const types = new Set(services.flatMap(({ type }) => type))
  const ofServices = Object.entries(serviceContexts).flatMap(([type, context]) =>
    types.has(type) ? [context] : [],
  )
  return {
    '@context': [
      ...new Set([
        didContext,
        ...(keys.length > 0 ? [jws2020Context] : []),
        ...ofServices,
        ...state.contexts,
      ]),
    ],
    id: did,
    controller: did,
    verificationMethod: keys.map(({ id, publicKey }) => jsonWebKey(did, id, publicKey)),
    ...forPurposes(ids),
    service: services,
  }
}

/** The metadata of a state. Only a published DID has a canonical id and times. */
export function toMetadata(state: DidState): DidDocumentMetadata {
  const { suffix, deactivated, lastOperationHash: versionId, createdAt, updatedAt } = state
  if (!createdAt || !updatedAt) return { deactivated, versionId }
  return {
    deactivated,
    canonicalId: toShortForm(suffix),
    versionId,
    created: toSeconds(createdAt),
    updated: toSeconds(updatedAt),
  }
}

/** Times in metadata have no fractional seconds (DID 1.0 §7.1.3). */
function toSeconds(instant: string): string {
  return instant.replace(/\.\d+Z$/, 'Z')
}
