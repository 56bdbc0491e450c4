/** The streams of open pages, over HTTP: one event when the link closes. */
import { request } from 'node:http'
import { describe, expect, test } from 'vitest'
import { sharedAgent, startAgent, type TestAgent } from '../support/agent.ts'
import { personQuery, readRequest, respond } from '../exchange/oid4vp/_wallet.ts'
import { newHolder } from '../exchange/enterprise/_suite.ts'
import { untilEnd } from '../support/shared.ts'

const agent = await untilEnd(startAgent())

const holder = newHolder()

const post = (url: string, body: object) => fetch(url, { method: 'POST', body: JSON.stringify(body) })

const links = {
  'a DID request': async (at: TestAgent) => {
    const { id, didRequest } = await at.tenant('POST /onboard/did-requests', { body: {} })
    return {
      url: didRequest.onboardEndpoint,
      answer: () => post(didRequest.onboardEndpoint, { did: holder.did }),
      remove: () => at.tenant('DELETE /onboard/did-requests/{didRequestId}', { path: { didRequestId: id } }),
    }
  },
  'a challenge': async (at: TestAgent) => {
    const { id, challenge } = await at.tenant('POST /did-authentication/challenges', { body: {} })
    return {
      url: challenge.submissionEndpoint,
      answer: () => post(challenge.submissionEndpoint, holder.answer(challenge.nonce)),
      remove: () =>
        at.tenant('DELETE /did-authentication/challenges/{challengeId}', { path: { challengeId: id } }),
    }
  },
  'a short link': async (at: TestAgent) => {
    const { connectionId, invitation } = await at.tenant('POST /connections', { body: {} })
    const invitee = await at.newTenant()
    return {
      url: invitation.shortUrl!,
      answer: () =>
        invitee.call('POST /connection-invitations', { body: { invitation: invitation.invitationUrl } }),
      remove: () => at.tenant('DELETE /connections/{connectionId}', { path: { connectionId } }),
    }
  },
  'a request over OpenID4VP': async (at: TestAgent) => {
    const { presentationId, openid4vp } = await at.tenant('POST /present-proof/presentations/openid4vp', {
      body: { dcqlQuery: personQuery, issuers: 'any' },
    })
    const { pageUrl: url, authorizationRequest } = openid4vp!
    const request = await readRequest(authorizationRequest)
    return {
      url,
      answer: () => respond(request, { error: 'access_denied', state: request.state }),
      remove: () =>
        at.tenant('DELETE /present-proof/presentations/{presentationId}', { path: { presentationId } }),
    }
  },
}

/** Opens a stream and returns when its first text has arrived. `rest`: its text, when it has ended. */
async function follow(url: string) {
  const response = await fetch(url, { headers: { accept: 'text/event-stream' } })
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  const first = (await reader.read()).value
  const rest = async () => {
    let text = first ?? ''
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return text
      text += value
    }
  }
  return { response, first, rest, close: () => reader.cancel() }
}

const isClosed = /event: closed\ndata: closed\n\n$/

describe.each(Object.entries(links))('%s', (_, create) => {
  test('has a stream that says when it was answered', async () => {
    const { url, answer } = await create(agent)
    const { response, first, rest } = await follow(url)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'cache-control': 'no-store',
      // nginx would keep the text back.
      'x-accel-buffering': 'no',
    })
    expect(first).not.toMatch(isClosed)
    await answer()
    expect(await rest()).toMatch(isClosed)
  })

  test('has a stream that says when it was withdrawn, or that it is closed already', async () => {
    const { url, remove } = await create(agent)
    const { rest } = await follow(url)
    await remove()
    expect(await rest()).toMatch(isClosed)
    expect(await (await follow(url)).rest()).toMatch(isClosed)
  })

  test('has a stream that says when it has expired', async () => {
    const short = await sharedAgent({
      AUTH_CHALLENGE_EXPIRY: '1',
      DID_REQUEST_EXPIRY: '1',
      CONNECT_INVITATION_EXPIRY: '1',
      PRESENTATION_INVITATION_EXPIRY: '1',
    })
    const { url } = await create(short)
    expect(await (await follow(url)).rest()).toMatch(isClosed)
  })
})

test('a link that never existed has no stream', async () => {
  const { response, rest } = await follow(`${agent.url}/onboard/none`)
  expect([response.status, JSON.parse(await rest())]).toMatchObject([404, { status: 404 }])
})

test('an address may open 100 streams, and others when it has closed some', async () => {
  const { url } = await links['a DID request'](agent)
  const open = () =>
    new Promise<{ status: number; close: () => Promise<void> }>((resolve, reject) => {
      const asked = request(url, { headers: { accept: 'text/event-stream' } }, (response) => {
        const closed = new Promise<void>((done) => response.on('error', () => done()).on('close', done))
        resolve({
          status: response.statusCode!,
          close: () => {
            asked.destroy()
            return closed
          },
        })
      })
      asked.on('error', reject).end()
    })
  const streams = await Promise.all(Array.from({ length: 100 }, open))
  expect(streams.every(({ status }) => status === 200)).toBe(true)
  const refused = await open()
  expect(refused.status).toBe(429)
  await Promise.all([...streams, refused].map(({ close }) => close()))
  await expect.poll(async () => (await open()).status).toBe(200)
})

test('a stream ends with the daemon', async () => {
  const other = await startAgent()
  const { url } = await links['a DID request'](other)
  const { rest } = await follow(url)
  await other[Symbol.asyncDispose]()
  expect(await rest().catch(() => '')).not.toMatch(isClosed)
})
