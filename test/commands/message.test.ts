/** `agent message` and `agent didcomm` with two tenants of one daemon. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestAgent } from '../support/agent.ts'
import { until } from '../support/tenants.ts'
import { openParty } from '../support/party.ts'
import { fails, prints, useUser } from './_cli.ts'
import { serveUser } from './_agents.ts'

describe('two connected tenants', () => {
  const user = useUser()
  let agent: TestAgent
  let other: Record<string, string>
  let connection: string

  beforeAll(async () => {
    agent = await serveUser(user)
    other = { AGENT_API_KEY: (await user.json`tenant create other`).apiKey }
    const made = await user.json`connection invite`
    connection = made.connectionId
    await user.as(other).json`connection accept ${made.invitation.invitationUrl}`
    await until(
      'the connection',
      () => user.json`connection show ${connection}`,
      ({ state }) => state === 'ConnectionResponseSent',
    )
  })
  afterAll(() => agent[Symbol.asyncDispose]())

  test('exchange messages', async () => {
    expect(await user.run`message send ${'See you at ten'} --connection ${connection}`).toMatchObject(
      prints(0, 'on its way'),
    )
    const received = await until(
      'the message',
      () => user.as(other).json`message list`,
      ({ contents }) => contents.length === 1,
    )
    expect(received.contents[0]).toMatchObject({ direction: 'received', content: 'See you at ten' })
    expect((await user.run`message list`).out).toContain('See you at ten')
  })

  test('connections answer a ping; an unknown connection does not', async () => {
    expect(await user.run`didcomm ping ${connection}`).toMatchObject(prints(0, 'answered'))
    expect((await user.run`didcomm ping 00000000-0000-4000-8000-000000000000`).code).toBe(3)
  })

  test('a ping to a DID is answered, refused, unanswered or impossible', async () => {
    const { invitation } = await user.json`connection invite`
    expect(await user.as(other).run`didcomm ping ${invitation.from}`).toMatchObject(prints(0, 'answered'))
    const { theirDid } = await user.json`connection show ${connection}`
    const refused = await user.run`didcomm ping ${theirDid}`
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('did not accept the ping') })
    expect(refused.err).toContain(`agent did resolve ${theirDid}`)
    await using silent = await openParty()
    expect(await user.run`didcomm ping ${silent.did} --timeout 1s`).toMatchObject(
      fails(6, /did not answer within 1s[^]*agent did resolve did:peer:2/),
    )
    expect(await user.run`didcomm ping did:example:alice`).toMatchObject(fails(2, 'did:example'))
  })

  test('text that is not an envelope is rejected', async () => {
    const file = join(user.folder, 'envelope.json')
    writeFileSync(file, '{"hello":"world"}')
    expect(await user.run`didcomm unpack ${file}`).toMatchObject(fails(2, 'JWE'))
    expect((await user.run`didcomm unpack ${join(user.folder, 'nothing')}`).code).toBe(2)
  })
})
