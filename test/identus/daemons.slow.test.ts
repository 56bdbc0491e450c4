/** The stock Identus SDK as holder between two daemon processes: one issues and revokes, the other verifies. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { TokenFormat } from '../../src/definitions/format-names.ts'
import { newDid, presentationIn, startDaemonPair } from '../support/tenants.ts'
import { startHolder } from './_holder.ts'
import { sdk } from './_sdk.ts'
import { answerRequest, ask, connect, issue, showClaims } from './_steps.ts'
import { untilEnd } from '../support/shared.ts'

const { ProtocolType } = sdk

vi.spyOn(console, 'log').mockImplementation(() => undefined)
// A collector need not listen. The SDK gets messages with the header `traceparent`.
const daemons = await untilEnd(
  startDaemonPair({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', TRACE_PEERS: 'true' }),
)
const [issuer, verifier] = [daemons.issuer, daemons.holder]
const holder = await untilEnd(startHolder(`${issuer.url}/dids/`))
const offers = (await connect(holder, issuer)).connectionId
const asks = (await connect(holder, verifier)).connectionId
beforeEach(() => void vi.spyOn(console, 'log').mockImplementation(() => undefined))
afterEach(() => void vi.restoreAllMocks())

type Credential = Awaited<ReturnType<typeof issue>>['credential']

/** The wallet's answer to a request. The SDK's agent itself discloses no claims of an SD-JWT. */
const formats: Record<
  Exclude<TokenFormat, 'MDOC'>,
  {
    curve: 'secp256k1' | 'Ed25519'
    terms: Parameters<typeof ask>[3]
    answer: (credential: Credential) => Promise<void>
  }
> = {
  JWT: {
    curve: 'secp256k1',
    terms: {},
    answer: async (credential) =>
      answerRequest(holder.agent, await holder.next(ProtocolType.DidcommRequestPresentation), credential),
  },
  SDJWT: {
    curve: 'Ed25519',
    terms: { credentialFormat: 'SDJWT', claims: { name: '' } },
    answer: async (credential) =>
      showClaims(holder, await holder.next(ProtocolType.DidcommRequestPresentation), credential, {
        name: true,
      }),
  },
}

test.each(Object.entries(formats))(
  '%s: issued, presented, revoked, and refused afterwards',
  async (format, { curve, terms, answer }) => {
    const { did: issuingDID } = await newDid(issuer, 'assertionMethod', curve)
    const { thid, recordId, credential } = await issue(holder, issuer, {
      connectionId: offers,
      issuingDID,
      claims: { name: 'Alice', age: 42 },
      validityPeriod: 3_600,
      ...(format === 'SDJWT' && { credentialFormat: 'SDJWT' }),
    })
    const good = await ask(verifier, asks, [], terms)
    await answer(credential)
    const { disclosedClaims } = await presentationIn(verifier.call, good.thid, 'PresentationVerified')
    expect(disclosedClaims).toEqual(format === 'SDJWT' ? { name: 'Alice' } : undefined)

    await issuer.call('PATCH /credential-status/revoke-credential/{id}', { path: { id: recordId } })
    expect((await holder.next(ProtocolType.PrismRevocation)).body).toEqual({
      issueCredentialProtocolThreadId: thid,
    })
    const bad = await ask(verifier, asks, [], terms)
    await answer(credential)
    const { metaLastFailure } = await presentationIn(
      verifier.call,
      bad.thid,
      'PresentationVerificationFailed',
    )
    expect(metaLastFailure!.detail).toMatch(/the credential is revoked/)
    expect((await holder.next(ProtocolType.ProblemReporting)).pthid).toBe(bad.thid)
  },
)
