/** What is calculated, in the thread that has the library: JSON in, JSON out. */
import type { AnonCredsSchema } from '../schemas/anoncreds-schema.ts'
import type { Held, Library } from './library.ts'
import type {
  Credential,
  CredentialDefinition,
  CredentialOffer,
  CredentialRequest,
  DefinitionPrivateKey,
  KeyCorrectnessProof,
  RequestMetadata,
} from './model.ts'
import type { Presentation, PresentationRequest } from './proof-model.ts'

/** Schemas and definitions by their ids. */
type Known = { schemas: Record<string, AnonCredsSchema>; definitions: Record<string, CredentialDefinition> }

/** The input and the output of every operation. */
export type Operations = {
  createLinkSecret: [input: {}, output: string]
  createNonce: [input: {}, output: string]
  createOffer: [
    input: { schemaId: string; credDefId: string; keyCorrectnessProof: KeyCorrectnessProof },
    output: CredentialOffer,
  ]
  createRequest: [
    input: { definition: CredentialDefinition; linkSecret: string; offer: CredentialOffer },
    output: { request: CredentialRequest; metadata: RequestMetadata },
  ]
  createCredential: [
    input: {
      definition: CredentialDefinition
      privateKey: DefinitionPrivateKey
      offer: CredentialOffer
      request: CredentialRequest
      values: Record<string, string>
    },
    output: Credential,
  ]
  processCredential: [
    input: {
      credential: Credential
      metadata: RequestMetadata
      linkSecret: string
      definition: CredentialDefinition
    },
    output: Credential,
  ]
  createPresentation: [
    input: { request: PresentationRequest; credential: Credential; linkSecret: string } & Known,
    output: Presentation,
  ]
  verifyPresentation: [
    input: { presentation: Presentation; request: PresentationRequest } & Known,
    output: boolean,
  ]
}
export type Operation = keyof Operations

type Does = { [Name in Operation]: (library: () => Promise<Library>, input: Operations[Name][0]) => unknown }

/** What the library calls the link secret in what it makes of it for the holder. */
const secretName = 'default'

// What the library makes of JSON it forgets again when this thread's garbage is collected.
export const operations: Does = {
  createLinkSecret: async (library) => (await library()).Prover.createLinkSecret().toString(),

  createNonce: async (library) => (await library()).Verifier.createNonce(),

  async createOffer(library, { schemaId, credDefId, keyCorrectnessProof }) {
    const { Issuer, CredentialKeyCorrectnessProof } = await library()
    return Issuer.createCredentialOffer(
      schemaId,
      credDefId,
      CredentialKeyCorrectnessProof.from(keyCorrectnessProof),
    ).toJSON()
  },

  async createRequest(library, { definition, linkSecret, offer }) {
    const { Prover, CredentialDefinition, CredentialOffer, LinkSecret } = await library()
    const [known, secret] = [CredentialDefinition.from(definition), LinkSecret.fromString(linkSecret)]
    const { request, metadata } = Prover.createCredentialRequest(
      known,
      secret,
      secretName,
      CredentialOffer.from(offer),
    )
    return { request: request.toJSON(), metadata: metadata.toJSON() }
  },

  async createCredential(library, { definition, privateKey, offer, request, values }) {
    const { Issuer, CredentialDefinition, CredentialDefinitionPrivate, CredentialOffer, CredentialRequest } =
      await library()
    return Issuer.createCredential(
      CredentialDefinition.from(definition),
      CredentialDefinitionPrivate.from(privateKey),
      CredentialOffer.from(offer),
      CredentialRequest.from(request),
      values,
    ).toJSON()
  },

  async processCredential(library, { credential, metadata, linkSecret, definition }) {
    const { Prover, Credential, CredentialRequestMetadata, LinkSecret, CredentialDefinition } =
      await library()
    return Prover.processCredential(
      Credential.from(credential),
      CredentialRequestMetadata.from(metadata),
      LinkSecret.fromString(linkSecret),
      CredentialDefinition.from(definition),
    ).toJSON()
  },

  async createPresentation(library, { request, credential, linkSecret, ...known }) {
    const loaded = await library()
    const { Prover, PresentationRequest, Credential, LinkSecret } = loaded
    return Prover.createPresentation(
      PresentationRequest.from(request),
      Credential.from(credential),
      LinkSecret.fromString(linkSecret),
      ...hold(loaded, known),
    ).toJSON()
  },

  async verifyPresentation(library, { presentation, request, ...known }) {
    const loaded = await library()
    const { Verifier, Presentation, PresentationRequest } = loaded
    return Verifier.verifyPresentation(
      Presentation.from(presentation),
      PresentationRequest.from(request),
      ...hold(loaded, known),
    )
  },
}

function hold({ CredentialSchema, CredentialDefinition }: Library, { schemas, definitions }: Known) {
  const each = <Type>(all: Record<string, Type>, from: (json: Type) => Held) =>
    Object.fromEntries(Object.entries(all).map(([id, json]) => [id, from(json)]))
  return [
    each(schemas, (json) => CredentialSchema.from(json)),
    each(definitions, (json) => CredentialDefinition.from(json)),
  ] as const
}
