/** Credentials that are issued anew with fresh claims of their source. */
import { expect, test } from 'vitest'
import { generateKey } from '../../../src/foundation/crypto/keys.ts'
import { decodeJwtVc } from '../../credentials/codecs/_verify.ts'
import { ask } from '../../support/ask.ts'
import { untilEnd } from '../../support/shared.ts'
import { addSource, filled, openSource, type Scripted, type SourceSettings } from './_claims-source.ts'
import { newDpopNonce, post, proofFor } from './_dpop.ts'
import { codeOf, offer, preAuthorizedGrant, prove, recordOf, startIssuer } from './_wallet.ts'

const setup = await untilEnd(startIssuer())
const { tenant, issuerId } = setup

const change = (credentialConfigId: string, body: object) =>
  tenant.call('PATCH /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}', {
    path: { issuerId, credentialConfigId },
    body,
  })

/** A wallet with a redeemed offer of an employee, which can refresh its token. */
async function start(scripted: Scripted[], settings: SourceSettings = {}) {
  const source = await openSource(...scripted)
  const { configurationId } = await addSource(setup, source.url, settings)
  await change(configurationId, { renewal: { days: 90 } })
  const options = { credentialConfigurationId: configurationId, claims: { employeeId: '7' } }
  const { credentialOffer, recordId } = await offer(setup, options)
  const [key, nonce] = [generateKey('P-256'), await newDpopNonce(setup)]
  const sendForm = (form: Record<string, string>) =>
    post(setup, 'token', form, proofFor(setup, 'token', { key, nonce }))
  const code = { 'pre-authorized_code': await codeOf(credentialOffer) }
  let tokens = (await sendForm({ grant_type: preAuthorizedGrant, ...code })).body
  return {
    source,
    recordId,
    configurationId,
    take: async (proof?: string) => {
      const accessToken: string = tokens.access_token
      const proofs = { jwt: [proof ?? (await prove(setup))] }
      return ask(setup.agent, `POST /oid4vci/issuers/${issuerId}/credentials`, {
        body: { credential_configuration_id: configurationId, proofs },
        headers: {
          authorization: `DPoP ${accessToken}`,
          dpop: proofFor(setup, 'credentials', { accessToken, key, nonce }),
        },
      })
    },
    refresh: async () => {
      const { refresh_token } = tokens
      tokens = (await sendForm({ grant_type: 'refresh_token', refresh_token })).body
    },
    [Symbol.asyncDispose]: () => source[Symbol.asyncDispose](),
  }
}

const claimsIn = ({ body }: { body: any }) => decodeJwtVc(body.credentials[0].credential).claims

test.each([true, false])(
  'the source is asked again, if the record keeps its claims: %j',
  async (keepClaims) => {
    const answers = ['Sales', 'Law', 'Tests'].map((department) => filled({ department }))
    await using flow = await start(answers, { keepClaims })
    expect(claimsIn(await flow.take())).toMatchObject({ department: 'Sales' })
    for (const department of ['Law', 'Tests']) {
      await flow.refresh()
      expect(claimsIn(await flow.take())).toMatchObject({ employeeId: '7', department })
      const { claims } = await recordOf(setup, flow.recordId)
      expect(claims).toEqual({ employeeId: '7', ...(keepClaims && { department }) })
    }
    const asked = flow.source.asked()
    expect(asked.map(({ purpose }) => purpose)).toEqual(['issue', 'refresh', 'refresh'])
    for (const { offered, wanted } of asked)
      expect([offered, wanted]).toEqual([{ employeeId: '7' }, [['department'], ['level']]])
    expect(new Set(flow.source.ids()).size).toBe(3)
  },
)

test('a used proof does not ask the source', async () => {
  await using flow = await start([filled({ department: 'Sales' }), filled({ department: 'Law' })])
  const proof = await prove(setup)
  expect((await flow.take(proof)).status).toBe(200)
  await flow.refresh()
  expect((await flow.take(proof)).body.error).toBe('invalid_nonce')
  expect(flow.source.asked()).toHaveLength(1)
  expect((await flow.take()).status).toBe(200)
})

test('without the source, a credential whose claims are not kept is not issued anew', async () => {
  await using flow = await start([filled({ department: 'Sales' })], { keepClaims: false })
  await flow.take()
  await change(flow.configurationId, { claimsSource: null })
  await flow.refresh()
  expect((await flow.take()).status).toBe(202)
  const { protocolState, metaLastFailure } = await recordOf(setup, flow.recordId)
  expect([protocolState, metaLastFailure?.detail]).toEqual([
    'CredentialSent',
    expect.stringMatching(/no claims source\. .*\$\.department: is missing.* The wallet asks again\.$/),
  ])
})
