/**
 * AnonCreds through the engine in its thread, next to the bare library in this one: the same calls with the
 * same JSON.
 */
import { createEngine } from '../src/credentials/anoncreds/engine.ts'
import { loadLibrary } from '../src/credentials/anoncreds/library.ts'
import {
  credDefId,
  definition,
  issue,
  known,
  made,
  request,
  schemaId,
  values,
} from '../test/credentials/anoncreds/_flow.ts'
import { ofAgent, peer, type Suites, type Work } from './_harness.ts'

/** An engine and the library, both loaded. Disposing ends the engine. */
export async function openAnonCredsSuites(): Promise<Suites> {
  const engine = createEngine()
  const bare = await loadLibrary()
  const linkSecret = await engine.createLinkSecret()
  const { offer, request: asked, credential } = await issue(engine, linkSecret)
  const presentation = await engine.createPresentation({ request, credential, linkSecret, ...known })
  const { privateKey } = made
  const schemas = () => ({ [schemaId]: bare.CredentialSchema.from(made.schema) })
  const definitions = () => ({ [credDefId]: bare.CredentialDefinition.from(definition) })
  const suites: Record<string, Work[]> = {
    'AnonCreds: issue': [
      ofAgent(() => engine.createCredential({ definition, privateKey, offer, request: asked, values })),
      peer('bare library', () =>
        bare.Issuer.createCredential(
          bare.CredentialDefinition.from(definition),
          bare.CredentialDefinitionPrivate.from(privateKey),
          bare.CredentialOffer.from(offer),
          bare.CredentialRequest.from(asked),
          values,
        ).toJSON(),
      ),
    ],
    'AnonCreds: present': [
      ofAgent(() => engine.createPresentation({ request, credential, linkSecret, ...known })),
      peer('bare library', () =>
        bare.Prover.createPresentation(
          bare.PresentationRequest.from(request),
          bare.Credential.from(credential),
          bare.LinkSecret.fromString(linkSecret),
          schemas(),
          definitions(),
        ).toJSON(),
      ),
    ],
    'AnonCreds: verify': [
      ofAgent(() => mustBe(engine.verifyPresentation({ presentation, request, ...known }))),
      peer('bare library', () =>
        mustBe(
          bare.Verifier.verifyPresentation(
            bare.Presentation.from(presentation),
            bare.PresentationRequest.from(request),
            schemas(),
            definitions(),
          ),
        ),
      ),
    ],
  }
  return { suites, [Symbol.asyncDispose]: () => engine.close() }
}

async function mustBe(verified: boolean | Promise<boolean>): Promise<void> {
  if (!(await verified)) throw new Error('a presentation was not verified')
}
