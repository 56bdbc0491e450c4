/**
 * A double click, a reload or a repeated redirect loses nothing, on each page, form and callback. The second
 * answer is the first one again, or it says that the first one counts. Five flows run at once;
 * `DOUBLE_CLICKS` is how often (`npm run test:double-clicks`).
 */
import { describe, expect, test } from 'vitest'
import { openRedirect } from '../../cli/redirect.ts'
import { CommandError } from '../../cli/errors/errors.ts'
import { sharedAgent } from '../support/agent.ts'
import { acceptOfferInvitation, acceptRequestInvitation, offerByInvitation } from '../support/invitation.ts'
import { connectionIn, oobOf, refusal } from '../support/tenants.ts'
import {
  challengeOf,
  didRequestOf,
  newChallenge,
  newDidRequest,
  person,
  submit,
} from '../exchange/enterprise/_openid4vp.ts'
import { newHolder } from '../exchange/enterprise/_suite.ts'
import {
  answer,
  offered,
  open,
  push,
  redeemAuthorized,
  sealedIn,
  type Shown,
} from '../exchange/oid4vci/_authorization.ts'
import { startAuthorizationServer } from '../exchange/oid4vci/_authorization-server.ts'
import { externalState, useServer } from '../exchange/oid4vci/_scene.ts'
import { addIssuer, offer, prove, recordOf, request } from '../exchange/oid4vci/_wallet.ts'
import {
  accept,
  addLicence,
  consentAt,
  inState as credentialState,
  licence,
  receive as receiveOffer,
} from '../exchange/oid4vci/holder/_holder.ts'
import { answerTo, askedDigitally, submitFromPage } from '../exchange/oid4vp/_digital.ts'
import {
  act,
  inState as proofState,
  receive as receiveRequest,
  requested,
  startWallet,
} from '../exchange/oid4vp/holder/_holder.ts'
import {
  present,
  presentationOf,
  presentSdJwt,
  readRequest,
  requestProof,
} from '../exchange/oid4vp/_wallet.ts'
import { untilEnd } from '../support/shared.ts'

const variables = {
  OID4VCI_REQUESTS_PER_MINUTE: '1000000',
  OID4VP_REQUESTS_PER_MINUTE: '1000000',
  ENTERPRISE_SUBMISSIONS_PER_MINUTE: '1000000',
  SHORT_URL_REQUESTS_PER_MINUTE: '1000000',
}

const agent = await sharedAgent(variables)
const wallet = await untilEnd(startWallet(variables))
const holder = wallet.holder
const verifier = { tenant: wallet.verifier.tenant, agent }
const setup = await addIssuer(agent, await agent.newTenant('issuer'))
await addLicence(setup)

const atOnce = 5
const flows = atOnce * Number(process.env['DOUBLE_CLICKS'] ?? '1')

/** Runs all flows, five at once. */
async function repeat(run: (round: number) => Promise<void>): Promise<void> {
  for (let round = 0; round < flows; round += atOnce)
    await Promise.all(Array.from({ length: atOnce }, (_, n) => run(round + n)))
}

const twice = <Value>(click: () => Promise<Value>) => Promise.all([click(), click()])

type Loaded = { status: number; text: string }

async function load(url: string): Promise<Loaded> {
  const response = await fetch(url, { headers: { accept: 'text/html' } })
  return { status: response.status, text: await response.text() }
}

/** A page that tells who has just answered that nothing is left to do. */
function expectDone({ status, text }: Loaded): void {
  expect([status, text]).toEqual([410, expect.stringContaining('If you have just answered, you are done')])
}

/** A wallet sends a presentation twice at once, and once more: each gets the same answer. */
async function presentTwice(authorizationRequest: string): Promise<void> {
  const asked = await readRequest(authorizationRequest)
  const vp = await presentSdJwt(asked)
  const click = () => present(asked, { person: [vp] })
  const [first, second] = await twice(click)
  for (const each of [first, second, await click()])
    expect([each.status, each.body]).toEqual([200, first.body])
}

const pathOf = (recordId: string) => ({ path: { recordId } })

describe('a page that is loaded twice and again stays the same, and its link open', () => {
  const rows: [string, () => Promise<string>][] = [
    ['the home page', async () => `${agent.url}/`],
    ['the API reference', async () => `${agent.url}/docs`],
    ['the long link of an invitation', async () => `${agent.url}/invitation?_oob=${oobOf(await invited())}`],
    ['the short link of an invitation', async () => (await invited()).invitation.shortUrl!],
    ['an offer', async () => (await offerByInvitation(setup.tenant)).invitation!.shortUrl!],
    ['a proof request', async () => (await proofByInvitation()).invitation!.shortUrl!],
    ['a DID request', async () => (await newDidRequest(setup.tenant)).shortUrl!],
    ['the link of a DID request', async () => (await newDidRequest(setup.tenant)).didRequest.onboardEndpoint],
    ['a challenge', async () => (await newChallenge(setup.tenant)).shortUrl!],
    ['the link of a challenge', async () => (await newChallenge(setup.tenant)).challenge.submissionEndpoint],
    ['a request of OpenID4VP', async () => (await requestProof(verifier)).openid4vp!.pageUrl],
  ]
  test.each(rows)('%s', async (_, create) => {
    const url = await create()
    const [first] = await twice(() => load(url))
    expect(first.status).toBe(200)
    await repeat(async () => {
      for (const each of await twice(() => load(url))) expect(each).toEqual(first)
    })
  })
})

const invited = () => setup.tenant.call('POST /connections', { body: { label: 'a double click' } })

function proofByInvitation() {
  return verifier.tenant.call('POST /present-proof/presentations/invitation', {
    body: { proofs: [], options: { challenge: 'a', domain: 'b' } },
  })
}

describe('the consent page', () => {
  type Request = Parameters<typeof open>[1]
  /** How the wallet sends the browser to the page. */
  const ways: [string, (parameters: Record<string, string | undefined>) => Promise<Request>][] = [
    [
      'of a pushed request',
      async (parameters) => ({
        client_id: 'wallet',
        request_uri: (await push(setup, parameters)).body.request_uri,
      }),
    ],
    ['of a request in the URL', async (parameters) => parameters],
  ]
  const locations = (shown: Shown[]) => shown.map(({ status, location }) => [status, location?.href])

  describe.each(ways)('%s', (_, send) => {
    test('is accepted twice: the wallet gets one code and one credential', () =>
      repeat(async () => {
        const { parameters, txCode, verifier: verifierOfCode, recordId } = await offered(setup)
        const query = await send(parameters)
        const [page] = await twice(() => open(setup, query))
        const click = () => answer(setup, { request: sealedIn(page), decision: 'accept', tx_code: txCode })
        const [first, second] = await twice(click)
        expect(first.status).toBe(303)
        expect(locations([second, await click()])).toEqual(locations([first, first]))
        const code = first.location!.searchParams.get('code')!
        const token = await redeemAuthorized(setup, { code, verifier: verifierOfCode })
        // The person goes back, sends the form again, and reloads the page.
        expectDone(await click())
        expectDone(await open(setup, query))
        const jwt = await prove(setup)
        const given = await twice(() => request(setup, { token: token.body.access_token, jwt }))
        expect(given.map(({ status }) => status)).toEqual([200, 200])
        expect(given[1].body.credentials).toEqual(given[0].body.credentials)
        expectDone(await open(setup, query))
        expect((await recordOf(setup, recordId)).protocolState).toBe('CredentialSent')
      }))

    test('is declined twice, and the offer stays open', () =>
      repeat(async () => {
        const { parameters, recordId } = await offered(setup)
        const page = await open(setup, await send(parameters))
        const click = () => answer(setup, { request: sealedIn(page), decision: 'decline' })
        const [first, second] = await twice(click)
        expect(first.location!.searchParams.get('error')).toBe('access_denied')
        expect(locations([second, await click()])).toEqual(locations([first, first]))
        expect((await recordOf(setup, recordId)).protocolState).toBe('OfferCreated')
        expect((await open(setup, await send(parameters))).status).toBe(200)
      }))

    test('gets a wrong code twice, which costs one guess, and then the right one', () =>
      repeat(async () => {
        const { parameters, txCode } = await offered(setup)
        const wrong = txCode === '000000' ? '000001' : '000000'
        const page = await open(setup, await send(parameters))
        const click = (tx_code: string | undefined) =>
          answer(setup, { request: sealedIn(page), decision: 'accept', tx_code })
        for (const each of [...(await twice(() => click(wrong))), await click(wrong)])
          expect(each.text).toContain('You can try 4 more times.')
        const [first, second] = await twice(() => click(txCode))
        expect(first.status).toBe(303)
        expect(locations([second])).toEqual(locations([first]))
      }))
  })

  test('leads to a wallet that is redirected twice: one credential', () =>
    repeat(async () => {
      const made = await offer(setup, { ...licence, grant: 'authorization_code', txCode: false })
      const { recordId } = await receiveOffer(holder, made.credentialOffer)
      const begin = () =>
        holder.call('POST /issue-credentials/records/{recordId}/begin-authorization', {
          ...pathOf(recordId),
          body: { redirectUri: 'http://127.0.0.1:1/callback' },
        })
      const [begun] = await twice(begin)
      const { code, state, iss } = await consentAt(setup, begun)
      const redirect = () =>
        holder.call('POST /issue-credentials/records/{recordId}/complete-authorization', {
          ...pathOf(recordId),
          body: { code, state, iss },
        })
      const [first, second] = await twice(redirect)
      expect([first.recordId, second.recordId]).toEqual([recordId, recordId])
      expect((await redirect()).recordId).toBe(recordId)
      const held = await credentialState(holder, recordId, 'CredentialReceived')
      expect((await redirect()).protocolState).toBe('CredentialReceived')
      const redemptions = held.openid4vci!.calls.filter(({ url }) => url.endsWith('/token'))
      expect(redemptions.filter(({ outcome }) => outcome === '200')).toHaveLength(1)
      expect((await recordOf(setup, made.recordId)).protocolState).toBe('CredentialSent')
    }))
})

test('an offer whose link is opened and accepted twice: one credential', () =>
  repeat(async () => {
    const made = await offer(setup, licence)
    const received = await twice(() => receiveOffer(holder, made.credentialOffer))
    expect(new Set(received.map(({ recordId }) => recordId)).size).toBe(1)
    const { recordId } = received[0]
    const clicks = twice(() => accept(holder, recordId, made.txCode))
    expect((await receiveOffer(holder, made.credentialOffer)).recordId).toBe(recordId)
    await clicks
    await credentialState(holder, recordId, 'CredentialReceived')
    expect((await accept(holder, recordId, made.txCode)).protocolState).toBe('CredentialReceived')
    expect((await recordOf(setup, made.recordId)).protocolState).toBe('CredentialSent')
  }))

test('a wallet that comes twice with the token of an external server: one credential', async () => {
  await using server = await startAuthorizationServer()
  const external = await addIssuer(agent, setup.tenant)
  await useServer(external, server.url)
  await repeat(async () => {
    const { issuerState, recordId } = await externalState(external)
    const token = await server.sign({ aud: external.identifier, issuer_state: issuerState })
    const jwt = await prove(external)
    const click = () => request(external, { token, jwt })
    const [first, second] = await twice(click)
    for (const each of [first, second, await click()])
      expect([each.status, each.body.credentials]).toEqual([200, first.body.credentials])
    expect((await recordOf(external, recordId)).protocolState).toBe('CredentialSent')
  })
})

describe('the redirect of a browser to a command', () => {
  const waiting = () =>
    openRedirect({
      path: '/callback',
      timeoutMs: 60_000,
      says: { accepted: 'Accepted.', refused: 'Refused.' },
      late: new CommandError('late', 6),
    })

  test('that comes twice and again has one outcome, and each page says so', () =>
    repeat(async (round) => {
      await using receiver = await waiting()
      const receiving = receiver.receive('s')
      const redirect = () => load(`${receiver.url}?state=s&code=${round}`)
      const pages = [...(await twice(redirect)), await redirect()]
      for (const { status, text } of pages)
        expect([status, text]).toEqual([200, expect.stringContaining('Accepted. Close this page')])
      expect((await receiving).searchParams.get('code')).toBe(String(round))
    }))

  test('is answered also if the command ends meanwhile', () =>
    repeat(async (round) => {
      const receiver = await waiting()
      const receiving = receiver.receive('s')
      const pages = twice(() => load(`${receiver.url}?state=s&code=${round}`))
      await receiving
      await receiver[Symbol.asyncDispose]()
      for (const { status } of await pages) expect(status).toBe(200)
    }))
})

describe('a presentation', () => {
  test('that a wallet sends twice is verified once, and the page says so', () =>
    repeat(async () => {
      const { presentationId, openid4vp } = await requestProof(verifier, {
        redirectUri: 'https://shop.example/done',
      })
      await presentTwice(openid4vp!.authorizationRequest)
      for (const page of await twice(() => load(openid4vp!.pageUrl)))
        expect([page.status, page.text]).toEqual([200, expect.stringContaining('Your proof is valid')])
      expect((await presentationOf(verifier, presentationId)).status).toBe('PresentationVerified')
    }))

  test('that a page sends twice is verified once, and the page says so', () =>
    repeat(async () => {
      const asked = await askedDigitally(verifier, { origins: [agent.url.replace('http:', 'https:')] })
      const content = await answerTo(asked.request, agent.url.replace('http:', 'https:'))
      const click = () => submitFromPage(asked, content, agent.url.replace('http:', 'https:'))
      const [first, second] = await twice(click)
      for (const each of [first, second, await click()])
        expect([each.status, each.body]).toEqual([200, first.body])
      expect((await load(asked.pageUrl)).text).toContain('Your proof is valid')
      expect((await presentationOf(verifier, asked.presentationId)).status).toBe('PresentationVerified')
    }))

  test('whose request is opened and accepted twice by a wallet is sent once', () =>
    repeat(async () => {
      const { asked, id } = await requested(wallet)
      const again = await receiveRequest(holder, asked.openid4vp!.authorizationRequest)
      expect(again.presentationId).toBe(id)
      const accepted = await Promise.allSettled(
        [0, 1].map(() => act(holder, id, { action: 'request-accept' })),
      )
      expect(accepted.some(({ status }) => status === 'fulfilled')).toBe(true)
      await proofState(holder.call, id, 'PresentationSent')
      await proofState(verifier.tenant.call, asked.presentationId, 'PresentationVerified')
    }))
})

describe('the link of an organisation', () => {
  test('a DID request that is answered twice has one DID', () =>
    repeat(async () => {
      const made = await newDidRequest(setup.tenant)
      const { did } = newHolder()
      const click = () => submit(made.didRequest.onboardEndpoint, { did })
      const replies = [...(await twice(click)), await click()]
      expectOnce(replies)
      for (const url of [made.shortUrl!, made.didRequest.onboardEndpoint]) expectDone(await load(url))
      expect(await didRequestOf(setup.tenant, made.id)).toMatchObject({ state: 'success', did })
    }))

  test('a challenge that is answered twice is one sign-in', () =>
    repeat(async () => {
      const made = await newChallenge(setup.tenant)
      const holderOfDid = newHolder()
      const body = holderOfDid.answer(made.challenge.nonce)
      const click = () => submit(made.challenge.submissionEndpoint, body)
      const replies = [...(await twice(click)), await click()]
      expectOnce(replies)
      for (const url of [made.shortUrl!, made.challenge.submissionEndpoint]) expectDone(await load(url))
      const { did } = holderOfDid
      expect(await challengeOf(setup.tenant, made.id)).toMatchObject({ state: 'success', did })
    }))

  test('a challenge that a credential answers twice is one sign-in', () =>
    repeat(async () => {
      const { id, openid4vp, shortUrl } = await newChallenge(setup.tenant, {
        ...person,
        issuers: 'any',
      } as never)
      await presentTwice(openid4vp!.authorizationRequest)
      expectDone(await load(shortUrl!))
      expect(await challengeOf(setup.tenant, id)).toMatchObject({ state: 'success' })
    }))

  /** One answer is accepted. The others say that it may have been. */
  function expectOnce(replies: { status: number; body: any }[]): void {
    const [accepted, ...others] = replies.toSorted((a, b) => a.status - b.status)
    expect(accepted!.status).toBe(200)
    for (const { status, body } of others)
      expect([status, body.detail]).toEqual([
        410,
        expect.stringContaining('If you have just answered, you are done'),
      ])
  }
})

describe('an invitation that is accepted twice', () => {
  /** One call is accepted, and the other says that the invitation was received already. */
  async function expectReceivedOnce(click: () => Promise<unknown>, type: RegExp): Promise<void> {
    const outcomes = await Promise.allSettled([click(), click()])
    const [refused, ...more] = outcomes.filter((each) => each.status === 'rejected')
    expect(more).toEqual([])
    for (const again of [Promise.reject(refused!.reason as Error), click()])
      expect((await refusal(again)).type).toMatch(type)
  }

  test('is one connection, and its page says so', () =>
    repeat(async () => {
      const made = await invited()
      const body = { invitation: oobOf(made) }
      const click = () => holder.call('POST /connection-invitations', { body })
      await expectReceivedOnce(click, /InvitationAlreadyReceived$/)
      await connectionIn(holder.call, made.thid, 'ConnectionResponseReceived')
      await connectionIn(setup.tenant.call, made.thid, 'ConnectionResponseSent')
      expectDone(await load(made.invitation.shortUrl!))
    }))

  test('is one offer', () =>
    repeat(async () => {
      const made = await offerByInvitation(setup.tenant)
      await expectReceivedOnce(() => acceptOfferInvitation(holder, oobOf(made)), /./)
      const { contents } = await holder.call('GET /issue-credentials/records', { query: { thid: made.thid } })
      expect(contents).toHaveLength(1)
    }))

  test('is one proof request', () =>
    repeat(async () => {
      const made = await proofByInvitation()
      await expectReceivedOnce(() => acceptRequestInvitation(holder, oobOf(made)), /./)
      const { contents } = await holder.call('GET /present-proof/presentations', {
        query: { thid: made.thid },
      })
      expect(contents).toHaveLength(1)
    }))
})
