/**
 * Invitations, offers and requests that nobody has answered in time: lists, `show` and traces say so, and
 * name the command for a new one.
 */
import { setTimeout } from 'node:timers/promises'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { newDid, startPair } from '../support/tenants.ts'
import { personQuery } from '../exchange/oid4vp/_wallet.ts'
import { newUser, words } from './_cli.ts'
import { untilEnd } from '../support/shared.ts'

const pair = await untilEnd(
  startPair({
    CONNECT_INVITATION_EXPIRY: '1',
    ISSUANCE_INVITATION_EXPIRY: '1',
    PRESENTATION_INVITATION_EXPIRY: '1',
  }),
)
const user = newUser()
const mine = user.as({ AGENT_URL: pair.agent.url, AGENT_API_KEY: pair.issuer.apiKey })
afterAll(async () => {
  user.remove()
})

test('an invitation, an offer and a request are shown as expired, without their dead link', async () => {
  const { did } = await newDid(pair.issuer, 'assertionMethod')
  const query = join(user.folder, 'query.json')
  writeFileSync(query, JSON.stringify(personQuery))
  const made: [topic: string, id: string, renew: string][] = []
  const make = async (topic: string, member: string, line: string[], renew: string) => {
    const record = (await mine.json(line)) as Record<string, string>
    expect(record['expiresAt']).toMatch(/^\d{4}-/)
    made.push([topic, record[member]!, renew])
  }
  await make('connection', 'connectionId', words`connection invite`, 'agent connection invite')
  await make(
    'credential',
    'recordId',
    words`credential offer --invitation --issuing-did ${did} --claim a=b`,
    'agent credential offer --invitation',
  )
  await make(
    'proof',
    'presentationId',
    words`proof request --invitation --any-issuer`,
    'agent proof request --invitation',
  )
  await make(
    'proof',
    'presentationId',
    words`proof request --oid4vp --any-issuer --dcql ${query}`,
    'agent proof request --oid4vp --dcql <file>',
  )
  await setTimeout(2_000)
  for (const [topic, id, renew] of made) {
    const { out, err } = await mine.run`${topic} show ${id}`
    expect(out).toMatch(/^state +\w+ \(expired \d+ s ago\)$/m)
    expect(out).toMatch(/^expires +\S+, \d+ s ago$/m)
    expect(out).not.toMatch(/_oob/)
    expect(out + err).toContain(renew)
    const listed = await mine.run`${topic} list`
    expect(listed.out).toMatch(new RegExp(`${id} .*expired \\d+ s ago`))
    expect(listed.err).toMatch(new RegExp(`Next:\n  agent ${topic} (?:invite|offer|request)`))
    const traced = (await mine.run`trace ${id}`).out
    expect(traced).toMatch(/\(expired \d+ s ago\)/)
    expect(traced).not.toContain('has not answered')
    expect(await mine.json(words`trace ${id}`)).toMatchObject({ pending: [] })
  }
})
