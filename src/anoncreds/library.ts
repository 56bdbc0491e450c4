/**
 * The library of AnonCreds: anoncreds-rs as WebAssembly, out of the TypeScript SDK of Hyperledger Identus, the one build of it that is on npm
 * and downloads nothing. A thread of its own loads it (`anoncreds-worker.ts`); nothing else of the SDK is used, and nothing else uses it.
 */
import { createRequire } from 'node:module'

/** What the library makes: an object in its own memory. */
export type Held = { toJSON(): unknown }
type From<Type extends Held = Held> = { from(json: unknown): Type }

/** What is used of the library, which has no types of its own. */
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
    createCredentialOffer(schemaId: string, definitionId: string, keyCorrectnessProof: Held): Held
    createCredential(
      definition: Held,
      privateKey: Held,
      offer: Held,
      request: Held,
      values: Record<string, string>,
    ): Held
  }
  Prover: {
    createLinkSecret(): { toString(): string }
    createCredentialRequest(
      definition: Held,
      linkSecret: object,
      name: string,
      offer: Held,
    ): { request: Held; metadata: Held }
    processCredential(credential: Held, metadata: Held, linkSecret: object, definition: Held): Held
    createPresentation(
      request: Held,
      credential: Held,
      linkSecret: object,
      schemas: Record<string, Held>,
      definitions: Record<string, Held>,
    ): Held
  }
  Verifier: {
    createNonce(): string
    verifyPresentation(
      presentation: Held,
      request: Held,
      schemas: Record<string, Held>,
      definitions: Record<string, Held>,
    ): boolean
  }
}

/** The SDK's loader; that the library is in these two fields is private to it. */
type Loader = { new (): { createLinksecret(): Promise<string> }; instance?: { pkg?: Library } }

const plugin = '@hyperledger/identus-sdk/plugins/anoncreds'

let wasFound = false

/** Whether the package with the library is installed. It is optional, since it is large. */
export function isInstalled(): boolean {
  if (wasFound) return true
  try {
    createRequire(import.meta.url).resolve(plugin)
    return (wasFound = true)
  } catch {
    return false
  }
}

/** Loads the library into this thread. @throws when it is not installed, or another version of it than the one that is pinned. */
export async function loadLibrary(): Promise<Library> {
  const { AnoncredsLoader } = createRequire(import.meta.url)(plugin) as { AnoncredsLoader: Loader }
  // It is loaded with the first call.
  await new AnoncredsLoader().createLinksecret()
  const library = AnoncredsLoader.instance?.pkg
  if (!library)
    throw new Error(
      `${plugin} has no library of AnonCreds where it was: is it the version that package.json names?`,
    )
  return library
}
