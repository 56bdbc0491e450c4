/** Lifetimes: of invitations, offers and requests, as they are given and as they are shown. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ahead, inUnits, inWords } from '../../cli/format/time.ts'
import { personQuery } from '../exchange/oid4vp/_wallet.ts'
import { untilEnd } from '../support/shared.ts'
import { newDid } from '../support/tenants.ts'
import { startCommandedPair } from './_agents.ts'
import { words } from './_cli.ts'

const pair = await untilEnd(startCommandedPair())
const mine = pair.as(pair.issuer)
const { did } = await newDid(pair.issuer, 'assertionMethod')
const query = join(pair.user.folder, 'query.json')
writeFileSync(query, JSON.stringify(personQuery))

const made: [topic: string, member: string, line: string[]][] = [
  ['connection', 'connectionId', words`connection invite`],
  ['credential', 'recordId', words`credential offer --invitation --issuing-did ${did} --claim a=b`],
  ['proof', 'presentationId', words`proof request --invitation --any-issuer`],
  ['proof', 'presentationId', words`proof request --oid4vp --any-issuer --dcql ${query}`],
]

test.each(made)(
  '%s %s: --expires-in is shown when it is made, in show and in the list',
  async (topic, member, line) => {
    const record = await mine.json([...line, '--expires-in', '14d'])
    const days = (Date.parse(record.expiresAt) - Date.now()) / 86_400_000
    expect(Math.round(days)).toBe(14)
    expect((await mine.run`${topic} show ${record[member]}`).out).toMatch(/^expires +\S+, in 14 d$/m)
    expect((await mine.run`${topic} list`).out).toMatch(new RegExp(`${record[member]} .* in 14 d +\\S+`))
  },
)

test('an invitation says when it expires', async () => {
  expect((await mine.run`connection invite --expires-in 2h`).err).toMatch(/^expires in 2 h$/m)
})

test('a lifetime without a unit is in seconds, and the command says so', async () => {
  const offer = words`credential offer --invitation --issuing-did ${did} --claim a=b`
  const { out, err } = await mine.run`${offer} --validity 365 --expires-in 600 --json`
  const { recordId } = JSON.parse(out)
  expect(err).toContain('Note: --validity 365 is in seconds: 6 min 5 s. With a unit: 365s, 365d.')
  expect(err).toContain('Note: --expires-in 600 is in seconds: 10 min.')
  expect((await mine.run`credential show ${recordId}`).out).toMatch(/^valid for +6 min 5 s$/m)
  expect((await mine.run`${offer} --validity 365d`).err).not.toContain('Note')
})

test.each([
  [30 * 86_400 - 5, 'in 30 d', 'in 30 days'],
  [90 * 86_400 - 3_000, 'in 90 d', 'in 90 days'],
  [86_400 - 1, 'in 1 d', 'in 1 day'],
  [14 * 3_600, 'in 14 h', 'in 14 hours'],
  [299, 'in 5 min', 'in 5 minutes'],
  [59, 'in 59 s', 'in 59 seconds'],
  [0, 'now', 'now'],
])('%d seconds ahead are %s', (seconds, short, long) => {
  const now = Date.parse('2026-11-20T12:00:00Z')
  expect(ahead(new Date(now + seconds * 1_000).toISOString(), now)).toBe(short)
  expect(inWords(now + seconds * 1_000, now)).toBe(long)
})

test.each([
  [0, '0 s'],
  [365, '6 min 5 s'],
  [365 * 86_400, '365 d'],
  [90_061, '1 d 1 h'],
])('a duration of %d seconds is %s', (seconds, text) => {
  expect(inUnits(seconds)).toBe(text)
})
