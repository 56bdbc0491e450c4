/**
 * Loads anoncreds-rs as WebAssembly from the TypeScript SDK of Hyperledger Identus, the only build on npm
 * that downloads nothing. Only the worker thread loads it (`anoncreds-worker.ts`). The agent uses nothing
 * else of the SDK, which the build bundles.
 */
import { AnoncredsLoader } from './sdk.ts'

/** An object in the library's memory. */
export type LibraryObject = { toJSON(): unknown }
type From = { from(json: unknown): LibraryObject }
type ById = Record<string, LibraryObject>

/** The used part of the library, which has no types. */
export type Library = {
  CredentialSchema: From
  CredentialDefinition: From
  CredentialDefinitionPrivate: From
  CredentialKeyCorrectnessProof: From
  CredentialOffer: From
  CredentialRequest: From
  CredentialRequestMetadata: From
  Credential: From
  PresentationRequest: From
  Presentation: From
  LinkSecret: { fromString(text: string): object }
  Issuer: {
    createCredentialOffer(
      schemaId: string,
      definitionId: string,
      keyCorrectnessProof: LibraryObject,
    ): LibraryObject
    createCredential(
      definition: LibraryObject,
      privateKey: LibraryObject,
      offer: LibraryObject,
      request: LibraryObject,
      values: Record<string, string>,
    ): LibraryObject
  }
  Prover: {
    createLinkSecret(): { toString(): string }
    createCredentialRequest(
      definition: LibraryObject,
      linkSecret: object,
      name: string,
      offer: LibraryObject,
    ): { request: LibraryObject; metadata: LibraryObject }
    processCredential(
      credential: LibraryObject,
      metadata: LibraryObject,
      linkSecret: object,
      definition: LibraryObject,
    ): LibraryObject
    createPresentation(
      request: LibraryObject,
      credential: LibraryObject,
      linkSecret: object,
      schemas: ById,
      definitions: ById,
    ): LibraryObject
  }
  Verifier: {
    createNonce(): string
    verifyPresentation(
      presentation: LibraryObject,
      request: LibraryObject,
      schemas: ById,
      definitions: ById,
    ): boolean
  }
}

/** Loads the library into this thread. @throws when it is not in the pinned version */
export async function loadLibrary(): Promise<Library> {
  // The first call loads the library.
  await new AnoncredsLoader().createLinksecret()
  const library = AnoncredsLoader.instance?.pkg
  if (!library)
    throw new Error('The SDK has no AnonCreds library where it is expected: build with the pinned version.')
  return library
}
