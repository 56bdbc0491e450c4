/** Error responses and their log lines. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { toBody } from '../../daemon/middleware/problem.ts'
import { route } from '../../daemon/http/route.ts'
import { createLog } from '../../src/foundation/log.ts'
import { adminToken, startAgent } from '../support/agent.ts'
import { anyone } from './_route.ts'
import { built } from '../support/built.ts'
import { untilEnd } from '../support/shared.ts'

const empty = { ...anyone, reply: [200, null] } as const

const { Problem } = built

const secret = 'the text of a bug'
const lines: string[] = []
const log = createLog('debug', { write: (line) => void lines.push(line) })

const failing = [
  route('GET /bug', empty, () => Promise.reject(new Error(secret))),
  route('GET /zod', empty, () => Promise.resolve(z.undefined().parse(secret))),
  route('GET /text', empty, () => Promise.reject(secret)),
  route('GET /wrong', { ...anyone, reply: [200, z.object({ a: z.string() })] }, () =>
    Promise.resolve({ a: 'a', more: secret }),
  ),
  route('GET /others', empty, () => Promise.reject(new Problem('/errors/common/unreachable', 'no answer'))),
  route('GET /moved', empty, () =>
    Promise.reject(new Problem('error:WalletManagementServiceError:WalletMoved', 'it is elsewhere')),
  ),
  route(
    'POST /admin',
    { summary: '', operationId: '', access: 'admin', body: z.object({ a: z.string() }), reply: [200, null] },
    () => Promise.resolve(),
  ),
]

const agent = await untilEnd(startAgent({}, { routes: failing, log }))

const instance = 'error:instance:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}'

test('an error body has the members of the Cloud Agent’s in their order, and its content type', async () => {
  const response = await agent.send('GET', '/nowhere')
  expect(response.status).toBe(404)
  expect(response.headers.get('content-type')).toBe('application/json')
  const detail = 'There is no GET /nowhere here\\. [^"]+'
  expect(await response.text()).toMatch(
    new RegExp(
      `^{"status":404,"type":"error:ResourcePathNotFound","title":"Resource Path Not Found","detail":"${detail}","instance":"${instance}"}$`,
    ),
  )
})

test.each(['/bug', '/zod', '/text', '/wrong'])(
  'a bug at %s is 500 without its message, which is logged with the same instance',
  async (path) => {
    lines.length = 0
    const response = await agent.send('GET', path)
    const text = await response.text()
    expect(response.status).toBe(500)
    expect(text).toMatch(
      new RegExp(
        `^{"status":500,"type":"error:InternalServerError","title":"Internal Server Error","detail":"[^"]+","instance":"${instance}"}$`,
      ),
    )
    expect(text).not.toContain(secret)
    const { instance: id } = JSON.parse(text) as { instance: string }
    const logged = lines.find((line) => line.includes(id.replace('error:instance:', '')))
    expect(logged).toContain(`"route":"GET ${path}"`)
    expect(logged).toContain(path === '/zod' ? 'ZodError' : secret)
  },
)

test.each(['/others', '/moved'])(
  'an unreachable peer and a transferred wallet are logged as warnings, not as errors: %s',
  async (path) => {
    const { instance } = (await (await agent.send('GET', path)).json()) as { instance: string }
    const logged = lines.find((line) => line.includes(instance.replace('error:instance:', '')))
    expect(JSON.parse(logged!)).toMatchObject({ level: 40, route: `GET ${path}` })
  },
)

test('a refused request is logged without its credentials and its body', async () => {
  lines.length = 0
  const headers = { 'x-admin-api-key': 'a-wrong-token', apikey: 'a-tenant-key' }
  await agent.send('POST', '/admin?token=in-the-query', { headers, body: '{"a":"in-the-body"}' })
  await agent.send('POST', '/admin', {
    headers: { 'x-admin-api-key': adminToken },
    body: '{"a":{"b":"in-the-body"}}',
  })
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { level: 30, route: 'POST /admin', status: 401, address: '127.0.0.1' },
    { level: 30, route: 'POST /admin', status: 400 },
  ])
  expect(lines.join()).not.toMatch(
    new RegExp(`a-wrong-token|a-tenant-key|in-the-query|in-the-body|${adminToken}`),
  )
})

test('a served request is logged at debug level only', async () => {
  lines.length = 0
  await agent.send('POST', '/admin', { headers: { 'x-admin-api-key': adminToken }, body: '{"a":"b"}' })
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { level: 20, route: 'POST /admin', status: 200 },
  ])
})

test('a problem of the enterprise suite has that suite’s body', () => {
  const problem = new Problem('BadRequest', 'Create a new one.')
  const expired = Object.assign(problem, {
    type: '/errors/authenticate/challenge-expired',
    status: 410,
    title: 'Session expired',
  })
  expect(JSON.stringify(toBody(expired, 'a-uuid'))).toBe(
    '{"type":"/errors/authenticate/challenge-expired","title":"Session expired","detail":"Create a new one.","status":410,"instance":"a-uuid"}',
  )
})
