/** A remote ledger that does not answer: operations wait, and nothing fails permanently. */
import { expect, test } from 'vitest'
import { startAgent } from '../support/agent.ts'
import { connect, issue, newDid, presentationIn, startPair, until } from '../support/tenants.ts'
import { startServer } from '../support/server.ts'
import { prove, requestProof } from './_steps.ts'

test('a presentation received during an outage is verified afterwards, and no failure is reported', async () => {
  await using pair = await startPair()
  const way = { isUp: true, refused: 0 }
  await using proxy = await startServer((request, response) => {
    if (!way.isUp) return void (way.refused++, response.writeHead(503).end())
    void fetch(pair.agent.url + request.url, { headers: { accept: request.headers.accept ?? '*/*' } }).then(
      async (answer) =>
        response
          .writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' })
          .end(await answer.text()),
    )
  })
  await using elsewhere = await startAgent({ VDR_URL: proxy.url, DID_CACHE_LIFETIME: '0' })
  const verifier = await elsewhere.newTenant('verifier')
  const { inviterConnectionId } = await connect(pair.issuer, pair.holder)
  const [issuer, subject] = [
    await newDid(pair.issuer, 'assertionMethod'),
    await newDid(pair.holder, 'authentication'),
  ]
  const { recordId } = await issue(pair.issuer, pair.holder, inviterConnectionId, issuer.did, subject.did)
  const resolved = async () => {
    const response = await elsewhere.send('GET', `/dids/${issuer.did}`)
    return { status: response.status, text: await response.text() }
  }
  expect((await resolved()).status).toBe(200)

  const { inviterConnectionId: connectionId } = await connect(verifier, pair.holder)
  const { thid, presentationId } = await requestProof(verifier, pair.holder, { connectionId })
  way.isUp = false
  const { status, text } = await resolved()
  expect([status, text]).toEqual([500, expect.not.stringContaining(new URL(proxy.url).host)])
  const before = way.refused
  await prove(pair.holder, presentationId, recordId)
  await until(
    'two attempts',
    async () => way.refused,
    (refused) => refused >= before + 2,
  )
  expect(await presentationIn(verifier.call, thid, 'RequestSent')).not.toHaveProperty('metaLastFailure')
  const { metaLastFailure } = await presentationIn(pair.holder.call, thid, 'PresentationGenerated')
  expect(JSON.stringify(metaLastFailure)).toMatch(/503/)
  expect(JSON.stringify(metaLastFailure)).not.toContain(new URL(proxy.url).host)
  way.isUp = true
  await presentationIn(verifier.call, thid, 'PresentationVerified')
  await presentationIn(pair.holder.call, thid, 'PresentationSent')
})
