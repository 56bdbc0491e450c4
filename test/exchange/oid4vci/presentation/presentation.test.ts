/** A proof before a credential: the page, the request to the wallet, the consent, and the claims. */
import { expect, test } from 'vitest'
import { decodeJwtVc } from '../../../credentials/codecs/_verify.ts'
import { sharedAgent } from '../../../support/agent.ts'
import { generateKey } from '../../../../src/foundation/crypto/keys.ts'
import { issuerDid } from '../../oid4vp/_wallet.ts'
import { answer, redeemAuthorized, sealedIn, type Shown } from '../_authorization.ts'
import { prove, recordOf, request } from '../_wallet.ts'
import {
  addPasses,
  alice,
  begin,
  declineAt,
  goOn,
  offeredCard,
  presentTo,
  press,
  requestedPass,
  trust,
  visit,
} from './_presentation.ts'

const agent = await sharedAgent()
const tenant = await agent.newTenant('issuer')
const setup = await addPasses(agent, tenant)
await trust(tenant, issuerDid)

const presentations = async () =>
  (await tenant.call('GET /present-proof/presentations', { query: { limit: 100 } })).contents

/** The claims of the credential that the person gets who accepts. */
async function take(page: Shown, verifier: string, configuration: string) {
  const { location, text } = await answer(setup, { request: sealedIn(page), decision: 'accept' })
  if (!location) throw new Error(text)
  const code = location.searchParams.get('code')!
  const { body: token } = await redeemAuthorized(setup, { code, verifier })
  const body = { credential_configuration_id: configuration, proofs: { jwt: [await prove(setup)] } }
  const { body: reply } = await request(setup, { token: token.access_token, body })
  return decodeJwtVc(reply.credentials[0].credential).claims
}

test('without an offer, a person who has presented gets a credential with the presented claim', async () => {
  const before = await presentations()
  const { parameters, verifier } = requestedPass()
  const begun = await begin(setup, parameters)
  expect(begun.page.text).toContain('Show a proof')
  expect(begun.page.text).not.toContain('value="accept"')
  expect((await presentations()).length).toBe(before.length + 1)
  // The page waits.
  expect((await visit(begun.pageUrl, begun.cookie)).text).toContain('openid4vp://')
  expect(await presentTo(begun)).toMatchObject({ status: 200 })
  const page = await goOn(begun)
  expect([page.status, page.text]).toEqual([200, expect.stringContaining('value="accept"')])
  expect(page.text).not.toContain(alice.birthdate)
  expect(await take(page, verifier, 'Pass')).toMatchObject({ birthdate: alice.birthdate })
})

test('with an offer, the presentation has to match its claims, and adds others', async () => {
  const { parameters, verifier, txCode, recordId } = await offeredCard(setup)
  expect(txCode).toBeUndefined()
  const begun = await begin(setup, parameters)
  await presentTo(begun)
  const page = await goOn(begun)
  const claims = { birthdate: alice.birthdate, family_name: 'Adams', level: 'gold' }
  expect(await take(page, verifier, 'Card')).toMatchObject(claims)
  expect(await recordOf(setup, recordId)).toMatchObject({ protocolState: 'CredentialSent', claims })
})

test('on the same device, the response code is redeemed once, in the browser that has begun', async () => {
  const { parameters, verifier } = requestedPass()
  const begun = await begin(setup, parameters)
  const { next } = await presentTo(begun)
  for (const cookie of [undefined, `vci=${'A'.repeat(43)}`]) {
    const lost = await visit(next!, cookie)
    expect([lost.status, lost.text]).toEqual([400, expect.stringContaining('Go on where you began')])
  }
  const back = await visit(next!, begun.cookie)
  expect(back.status).toBe(303)
  const page = await visit(back.location!, begun.cookie)
  expect((await visit(next!, begun.cookie)).status).toBe(409)
  expect(await take(page, verifier, 'Pass')).toMatchObject({ birthdate: alice.birthdate })
  // The request is answered.
  expect((await visit(back.location!, begun.cookie)).status).toBe(410)
})

test('a presentation is for its authorization request, and for no other, nor another issuer', async () => {
  const [first, second] = [await offeredCard(setup), await offeredCard(setup)]
  const begun = await begin(setup, first.parameters)
  const other = await begin(setup, second.parameters, begun.cookie)
  expect(other.cookie).toBe(begun.cookie)
  await presentTo(begun)
  const page = await goOn(begun)
  // The other request still waits in the same browser.
  expect((await visit(other.pageUrl, other.cookie)).text).toContain('openid4vp://')
  await answer(setup, { request: sealedIn(page), decision: 'accept' })
  const grants = await agent.agent.wallets.use(tenant.walletId, ({ db }) =>
    db.selectFrom('issuance_grant').select(['records', 'presented', 'code_digest']).execute(),
  )
  const grantOf = (recordId: string) => grants.find(({ records }) => records.includes(recordId))!
  expect(grantOf(first.recordId).presented).toEqual(expect.any(String))
  expect(grantOf(first.recordId).presented).not.toContain(alice.birthdate)
  expect(grantOf(second.recordId)).toMatchObject({ presented: null, code_digest: null })
  const elsewhere = await addPasses(agent, tenant)
  const id = (await visit(begun.pageUrl, begun.cookie)).location!.searchParams.get('id')!
  expect((await visit(`${elsewhere.identifier}/presentation?id=${id}`, begun.cookie)).status).toBe(400)
})

test('a presentation of an issuer that is not trusted is refused, and the wallet may be told', async () => {
  const { parameters, recordId } = await offeredCard(setup)
  const begun = await begin(setup, parameters)
  const { status } = await presentTo(begun, { issued: { claims: alice, key: generateKey('P-256') } })
  expect(status).toBe(400)
  const page = await goOn(begun)
  expect([page.status, page.text]).toEqual([400, expect.stringContaining('error=access_denied')])
  expect(page.text).toContain('You do not get this credential now')
  const { protocolState, metaLastFailure } = await recordOf(setup, recordId)
  expect([protocolState, metaLastFailure]).toMatchObject(['OfferCreated', { type: 'access_denied' }])
})

test('a person who declines the presentation gets nothing', async () => {
  const begun = await begin(setup, requestedPass().parameters)
  expect((await declineAt(begun)).status).toBe(200)
  const page = await goOn(begun)
  expect([page.status, page.text]).toEqual([400, expect.stringContaining('error=access_denied')])
})

test('a presentation that does not match leaves the offer open, four times', async () => {
  const { parameters, recordId } = await offeredCard(setup)
  for (const left of [4, 3, 2, 1, 0]) {
    const begun = await begin(setup, parameters)
    await presentTo(begun, { issued: { claims: { ...alice, family_name: 'Brown' } } })
    const page = await goOn(begun)
    expect([page.status, page.text]).toEqual([400, expect.stringContaining('error=access_denied')])
    // The same presentation counts once.
    if (left > 0) expect((await goOn(begun)).text).toContain('family_name does not match')
    const { protocolState, metaLastFailure } = await recordOf(setup, recordId)
    expect(protocolState).toBe(left === 0 ? 'OfferBlocked' : 'OfferCreated')
    expect(metaLastFailure!.detail).toContain(left === 0 ? 'blocked' : `${left} more may fail`)
    expect(JSON.stringify(metaLastFailure)).not.toMatch(/Brown|Adams/)
  }
})

test('the page without the presentation cannot be accepted, and a double click is one request', async () => {
  const { parameters } = requestedPass()
  const begun = await begin(setup, parameters)
  const { status } = await answer(setup, { request: sealedIn(begun.page), decision: 'accept' })
  expect(status).toBe(410)
  const again = await press(setup, begun.page, { cookie: begun.cookie })
  expect(again.location!.href).toBe(begun.pageUrl)
  expect((await press(setup, begun.page)).status).toBe(400)
  expect((await press(setup, begun.page, { origin: 'https://thief.example' })).status).toBe(403)
})
