/** The check of the metadata of OpenID4VCI issuers. */
import { expect, test } from 'vitest'
import { checkIssuers } from '../../../src/operations/doctor/credential-issuers.ts'
import { sharedAgent, startAgent, type TestAgent } from '../../support/agent.ts'
import { withDetail } from '../../support/detail.ts'
import { startServer } from '../../support/server.ts'

async function addIssuer({ tenant }: TestAgent): Promise<string> {
  return (await tenant('POST /oid4vci/issuers', { body: {} })).id
}

async function findingOf({ admin }: TestAgent) {
  const { checks } = await admin('GET /_system/doctor')
  return checks.find(({ name }) => name === 'openid4vci')
}

test('an agent without issuers has nothing to check', async () => {
  const agent = await sharedAgent()
  expect(await findingOf(agent)).toMatchObject(withDetail('ok', 'no OpenID4VCI issuers'))
})

test('an issuer without https is a warning', async () => {
  const agent = await sharedAgent()
  const id = await addIssuer(agent)
  expect(await findingOf(agent)).toMatchObject({
    ...withDetail('warning', `${agent.url}/oid4vci/issuers/${id} is not https`),
    hint: expect.stringContaining('REST_SERVICE_URL=https://<address>'),
  })
})

test('a proxy that does not pass the well-known paths is a failure, with the URL that wallets read', async () => {
  let passes = (_path: string) => false
  let target = ''
  await using front = await startServer(async (request, response) => {
    if (!passes(request.url!)) return response.writeHead(404).end()
    const answer = await fetch(target + request.url)
    return response.writeHead(answer.status).end(await answer.text())
  })
  await using agent = await startAgent({ REST_SERVICE_URL: `${front.url}/cloud-agent` })
  target = agent.url
  const id = await addIssuer(agent)
  const path = `/cloud-agent/oid4vci/issuers/${id}`
  passes = (url) => url.startsWith('/cloud-agent')
  const { hint, ...finding } = (await findingOf(agent))!
  const url = `${front.url}/.well-known/openid-credential-issuer${path}`
  expect(finding).toMatchObject(withDetail('failed', `${url}: the status is 404`))
  expect(hint).toContain(`curl -i ${url}`)
  passes = (url) => url.startsWith('/.well-known/openid-credential-issuer')
  const server = `${front.url}/.well-known/oauth-authorization-server${path}`
  expect(await findingOf(agent)).toMatchObject(withDetail('failed', `${server}: the status is 404`))
  passes = () => true
  expect(await findingOf(agent)).toMatchObject({ status: 'warning' })
})

test('a public URL of another server is a failure', async () => {
  await using other = await startServer((_, response) => response.writeHead(200).end('{"issuer":"other"}'))
  await using agent = await startAgent({ REST_SERVICE_URL: other.url })
  await addIssuer(agent)
  expect(await findingOf(agent)).toMatchObject(withDetail('failed', 'it is not the metadata of this issuer'))
})

test('metadata that wallets can read by https is ok', async () => {
  const base = 'https://agent.example'
  await using agent = await startAgent({ REST_SERVICE_URL: base })
  await addIssuer(agent)
  // A proxy for https.
  const exchange = async (url: string) => {
    const answer = await fetch(url.replace(base, agent.url))
    return { status: answer.status, text: await answer.text() }
  }
  expect(await checkIssuers({ exchange }, agent.agent.env.db, base)).toEqual(withDetail('ok', base))
})
