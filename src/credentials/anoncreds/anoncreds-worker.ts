/** Entry point of the thread that runs the AnonCreds library (`engine.ts`), one operation after the other. */
import { parentPort } from 'node:worker_threads'
import type { AnonCredsSchema } from '../schemas/anoncreds-schema.ts'
import { loadLibrary, type Library, type LibraryObject } from './library.ts'
import type {
  Credential,
  CredentialDefinition,
  CredentialOffer,
  CredentialRequest,
  DefinitionPrivateKey,
  KeyCorrectnessProof,
  RequestMetadata,
} from './model.ts'
import type { Presentation, PresentationRequest } from './presentation.ts'

/** By id. */
type PublicObjects = {
  schemas: Record<string, AnonCredsSchema>
  definitions: Record<string, CredentialDefinition>
}

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
    input: { request: PresentationRequest; credential: Credential; linkSecret: string } & PublicObjects,
    output: Presentation,
  ]
  verifyPresentation: [
    input: { presentation: Presentation; request: PresentationRequest } & PublicObjects,
    output: boolean,
  ]
}
export type Operation = keyof Operations

type Handlers = {
  [Name in Operation]: (library: Library, input: Operations[Name][0]) => unknown
}

/** The library's name of the link secret in the metadata of requests. */
const linkSecretLabel = 'default'

// Garbage collection of the wrapper objects frees the library's memory.
const operations: Handlers = {
  createLinkSecret: ({ Prover }) => Prover.createLinkSecret().toString(),

  createNonce: ({ Verifier }) => Verifier.createNonce(),

  createOffer: (library, { schemaId, credDefId, keyCorrectnessProof }) =>
    library.Issuer.createCredentialOffer(
      schemaId,
      credDefId,
      library.CredentialKeyCorrectnessProof.from(keyCorrectnessProof),
    ).toJSON(),

  createRequest(library, { definition, linkSecret, offer }) {
    const { request, metadata } = library.Prover.createCredentialRequest(
      library.CredentialDefinition.from(definition),
      library.LinkSecret.fromString(linkSecret),
      linkSecretLabel,
      library.CredentialOffer.from(offer),
    )
    return { request: request.toJSON(), metadata: metadata.toJSON() }
  },

  createCredential: (library, { definition, privateKey, offer, request, values }) =>
    library.Issuer.createCredential(
      library.CredentialDefinition.from(definition),
      library.CredentialDefinitionPrivate.from(privateKey),
      library.CredentialOffer.from(offer),
      library.CredentialRequest.from(request),
      values,
    ).toJSON(),

  processCredential: (library, { credential, metadata, linkSecret, definition }) =>
    library.Prover.processCredential(
      library.Credential.from(credential),
      library.CredentialRequestMetadata.from(metadata),
      library.LinkSecret.fromString(linkSecret),
      library.CredentialDefinition.from(definition),
    ).toJSON(),

  createPresentation: (library, { request, credential, linkSecret, ...objects }) =>
    library.Prover.createPresentation(
      library.PresentationRequest.from(request),
      library.Credential.from(credential),
      library.LinkSecret.fromString(linkSecret),
      ...toObjects(library, objects),
    ).toJSON(),

  verifyPresentation: (library, { presentation, request, ...objects }) =>
    library.Verifier.verifyPresentation(
      library.Presentation.from(presentation),
      library.PresentationRequest.from(request),
      ...toObjects(library, objects),
    ),
}

function toObjects(
  { CredentialSchema, CredentialDefinition }: Library,
  { schemas, definitions }: PublicObjects,
) {
  const each = <Type>(all: Record<string, Type>, from: (json: Type) => LibraryObject) =>
    Object.fromEntries(Object.entries(all).map(([id, json]) => [id, from(json)]))
  return [
    each(schemas, (json) => CredentialSchema.from(json)),
    each(definitions, (json) => CredentialDefinition.from(json)),
  ] as const
}

export type Task = { [Name in Operation]: { operation: Name; input: Operations[Name][0] } }[Operation]

/** `refused`: the library's reason. `crashed`: the library's memory may be damaged, so the thread must end. */
export type TaskResult = { output: unknown } | { refused: string } | { crashed: string }

let library: Promise<Library> | undefined

async function perform({ operation, input }: Task): Promise<TaskResult> {
  try {
    return { output: operations[operation](await (library ??= loadLibrary()), input as never) }
  } catch (error) {
    // A panic of the library, or the end of its memory.
    if (error instanceof RangeError || (error instanceof Error && error.name === 'RuntimeError'))
      return { crashed: String(error) }
    return { refused: error instanceof Error ? error.message : String(error) }
  }
}

parentPort!.on('message', async (task: Task) => parentPort!.postMessage(await perform(task)))
parentPort!.postMessage('ready')
