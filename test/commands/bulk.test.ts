/** `agent credential offer --csv`: each row gets one offer, whatever interrupts the run. */
import { createHash, randomUUID } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Daemon } from '../support/daemon.ts'
import { connect, newDid, publishSchema, until, type Tenant } from '../support/tenants.ts'
import { readCsv } from '../../cli/bulk/csv.ts'
import { decode } from '../support/invitation.ts'
import { startCommandedPair } from './_agents.ts'
import { bin, newUser, type Commands } from './_cli.ts'

let pair: Awaited<ReturnType<typeof startCommandedPair>>
let commands: Commands
let did = ''
beforeAll(async () => {
  pair = await startCommandedPair()
  commands = pair.as(pair.issuer)
  did = (await newDid(pair.issuer, 'assertionMethod')).did
})
afterAll(() => pair[Symbol.asyncDispose]())

const file = (name: string) => join(pair.user.folder, name)
const offer = (csv: string) => ['credential', 'offer', '--issuing-did', did, '--csv', csv]

/** Writes a CSV file of people, one of them with a comma, a quote, a line break and an empty cell. */
function writePeople(name: string, count: number, more: (row: number) => string = () => ''): string {
  const people = Array.from(
    { length: count },
    (_, row) => `Person ${row},${row},p${row}@example.com${more(row)}`,
  )
  people[0] = `"Ann ""A"", of\\nBerlin",0,${more(0)}`.replace('\\n', '\n')
  writeFileSync(file(name), `name,age:,email${more(-1)}\n${people.join('\n')}\n`)
  return file(name)
}

/** Counts the results of a run that goes on: its last line may be incomplete. */
const countIn = (csv: string) =>
  Promise.resolve(
    existsSync(`${csv}.report.jsonl`)
      ? readFileSync(`${csv}.report.jsonl`, 'utf8').split('\n').length - 2
      : 0,
  )

const resultsOf = (csv: string): any[] =>
  readFileSync(`${csv}.report.jsonl`, 'utf8')
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
    .filter(({ line }) => line !== undefined)

/** Asserts that the rows with a name in their claims have one record each. */
async function expectOneOfferEach(call: Tenant['call'], csv: string, count: number) {
  const { contents } = await call('GET /issue-credentials/records', { query: { limit: 1_000 } })
  const mine = new Set(resultsOf(csv).flatMap(({ recordId }) => recordId ?? []))
  const offered = contents.filter(({ recordId }) => mine.has(recordId))
  expect([
    mine.size,
    offered.length,
    new Set(offered.map(({ claims }) => JSON.stringify(claims))).size,
  ]).toEqual([count, count, count])
  return contents
}

test('each row becomes an invitation with its claims, and a repeated command offers nothing twice', async () => {
  const csv = writePeople('people.csv', 30)
  const line = [...offer(csv), '--claim', 'school=ETH', '--goal', 'Diploma']
  expect(await commands.json(line)).toMatchObject({ rows: 30, offered: 30, failed: 0, before: 0 })
  const contents = await expectOneOfferEach(pair.issuer.call, csv, 30)
  expect(contents.map(({ claims }) => claims)).toContainEqual({
    name: 'Ann "A", of\nBerlin',
    age: 0,
    school: 'ETH',
  })
  expect(contents.map(({ claims }) => claims)).toContainEqual({
    name: 'Person 7',
    age: 7,
    email: 'p7@example.com',
    school: 'ETH',
  })
  for (const { shortUrl, invitationUrl } of resultsOf(csv)) {
    expect(shortUrl).toMatch(new RegExp(`^${pair.issuer.url}/i\\?_oobid=`))
    expect(invitationUrl).toMatch(new RegExp(`^${pair.issuer.url}/invitation\\?_oob=`))
    const { created_time: created, expires_time: expires } = decode({ invitation: { invitationUrl } })
    expect(expires - created).toBe(7 * 86_400)
  }
  expect(await commands.json(line)).toMatchObject({ offered: 0, before: 30 })
  expect((await pair.issuer.call('GET /issue-credentials/records')).contents).toHaveLength(30)
})

test('a killed run is resumed without a second offer, also if the report has lost its end', async () => {
  const csv = writePeople('killed.csv', 300)
  const line = offer(csv)
  const { url, apiKey } = pair.issuer
  const run = execa(process.execPath, [bin, ...line], {
    env: { ...process.env, AGENT_URL: url, AGENT_API_KEY: apiKey },
    reject: false,
  })
  await until(
    'results',
    () => countIn(csv),
    (count) => count > 20,
  )
  run.kill('SIGKILL')
  await run
  const report = readFileSync(`${csv}.report.jsonl`)
  expect(resultsOf(csv).length).toBeLessThan(300)
  // As a power cut leaves it: the last lines are missing or incomplete, and their offers exist.
  writeFileSync(`${csv}.report.jsonl`, report.subarray(0, report.length - 500))
  expect(await commands.json(line)).toMatchObject({ rows: 300, failed: 0 })
  const contents = await expectOneOfferEach(pair.issuer.call, csv, 300)
  expect(contents.filter(({ claims }) => claims['name'] === 'Person 33')).toHaveLength(1)
})

test('a run that an earlier release began is resumed with its terms', async () => {
  const csv = writePeople('earlier.csv', 3)
  // That release sent no lifetime, and its report names none. Here it ended before it could write the result
  // of the second row.
  const [run, offered] = [randomUUID(), { issuingDID: did }]
  const hash = createHash('sha256').update(readFileSync(csv)).update('\0')
  const input = hash.update(`${JSON.stringify({ offered, claims: {} })}\0`).digest('base64url')
  const [first, second] = await Promise.all(
    readCsv(csv)
      .rows.slice(0, 2)
      .map(async ({ line, claims }) => {
        const headers = { 'idempotency-key': `${run}:${line}` }
        const route = 'POST /issue-credentials/credential-offers/invitation'
        const { recordId } = await pair.issuer.call(route, { headers, body: { ...offered, claims } })
        return { line, recordId }
      }),
  )
  const lines = [{ run, input }, first]
  writeFileSync(`${csv}.report.jsonl`, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  expect(await commands.json(offer(csv))).toMatchObject({ rows: 3, offered: 2, failed: 0, before: 1 })
  expect(resultsOf(csv).map(({ recordId }) => recordId)).toContain(second!.recordId)
  await expectOneOfferEach(pair.issuer.call, csv, 3)
})

test('a daemon that dies ends the run with exit code 7, and the next run completes it', async () => {
  await using daemon = await Daemon.start()
  const tenant = await daemon.newTenant('acme')
  const issuing = await newDid(tenant, 'assertionMethod')
  using user = newUser()
  const mine = user.as({ AGENT_URL: daemon.url, AGENT_API_KEY: tenant.apiKey })
  const csv = writePeople('crash.csv', 400)
  const line = ['credential', 'offer', '--csv', csv, '--issuing-did', issuing.did]
  const running = mine.run(line)
  await until(
    'results',
    () => countIn(csv),
    (count) => count > 20,
  )
  await daemon.stop('SIGKILL')
  const { code, err } = await running
  expect([code, err]).toEqual([7, expect.stringContaining('none is offered twice')])
  await daemon.start()
  expect(await mine.json(line)).toMatchObject({ rows: 400, failed: 0 })
  await expectOneOfferEach(tenant.call, csv, 400)
})

test('rows over connections, and rows that the daemon refuses', async () => {
  const { inviterConnectionId: connectionId } = await connect(pair.issuer, pair.holder)
  const csv = file('over.csv')
  writeFileSync(csv, `connection,name\n${connectionId},Bob\n${connectionId},Carol\n`)
  expect(await commands.json(offer(csv))).toMatchObject({ offered: 2 })
  const refused = file('refused.csv')
  writeFileSync(refused, 'id:,name\n"""did:example:x""",Bob\n1,Carol\n')
  const schema = await publishSchema(pair.issuer, did, { properties: { id: { type: 'string' } } })
  const { code, out, err } = await commands.run([...offer(refused), '--schema', schema, '--json'])
  expect([code, JSON.parse(out)]).toEqual([1, expect.objectContaining({ rows: 2, offered: 1, failed: 1 })])
  expect(err).toContain('1 of 2 rows were refused')
  expect(resultsOf(refused).find(({ error }) => error)).toMatchObject({
    line: 3,
    error: { detail: expect.stringContaining('id') },
  })
})

test('semicolons and tabs separate columns too, as the header line shows', () => {
  const csv = file('separated.csv')
  const read = (content: string) => {
    writeFileSync(csv, content)
    return readCsv(csv).rows.map(({ claims }) => claims)
  }
  const rows = [{ name: 'Ann, A', age: 42 }]
  expect(read('\ufeffname;age:\r\nAnn, A;42\r\n')).toEqual(rows)
  expect(read('name\tage:\nAnn, A\t42\n')).toEqual(rows)
  expect(read('name,age:\n"Ann, A",42\n')).toEqual(rows)
  expect(read('"name; first",x\nAnn,a;b\n')).toEqual([{ 'name; first': 'Ann', x: 'a;b' }])
  expect(read('name\nAnn; A\n')).toEqual([{ name: 'Ann; A' }])
})

test.each([
  ['', 'is empty'],
  ['name;age,x\nA;1,2\n', 'the header line has commas and semicolons'],
  ['name,age\n', 'has a header line, and no rows'],
  ['name,name\nA,B\n', 'the header line names "name" twice'],
  ['name,\nA,B\n', 'column 2 has no name'],
  ['name,age\nA,1\nB\n', 'line 3: the row has 1 columns, and the header line 2'],
  ['name\n"A\n', 'a quote is not closed'],
  ['name,age:\nA,1\nB,x\n', 'line 3: age is not JSON'],
  ['connection,name\nnobody,A\n', 'line 2: there is no connection "nobody"'],
  ['connection,name\n,A\n', 'line 2: connection is empty'],
])('a mistake in the file ends the command before anything is offered: %j', async (content, reason) => {
  const csv = file('wrong.csv')
  writeFileSync(csv, content)
  const { code, err } = await commands.run(offer(csv))
  expect([code, err]).toEqual([2, expect.stringContaining(reason)])
  expect(() => resultsOf(csv)).toThrow('ENOENT')
})

test('the report of another run is refused', async () => {
  const csv = writePeople('first.csv', 2)
  const line = offer(csv)
  await commands.json(line)
  writePeople('first.csv', 3)
  expect(await commands.run(line)).toMatchObject({
    code: 5,
    err: expect.stringContaining('another CSV file'),
  })
  writeFileSync(`${csv}.report.jsonl`, 'my notes')
  expect(await commands.run(line)).toMatchObject({ code: 2, err: expect.stringContaining('not the report') })
  expect(readFileSync(`${csv}.report.jsonl`, 'utf8')).toBe('my notes')
})
