/** Lists are filtered, show the newest first, and report omitted items. */
import { expect, test } from 'vitest'
import { fails } from './_cli.ts'
import { startCommandedPair } from './_agents.ts'
import { connect } from '../support/tenants.ts'

test('a list shows the newest items first and the command for the next page', async () => {
  await using pair = await startCommandedPair()
  const { issuer, as } = pair
  const ids: string[] = []
  for (let count = 1; count <= 103; count++)
    ids.unshift(
      (
        await issuer.call('POST /connections', {
          body: { label: count % 2 === 0 ? `Even ${count}` : `Odd ${count}` },
        })
      ).connectionId,
    )
  const first = await as(issuer).run`connection list -q`
  expect(first.out.split('\n')).toEqual(ids.slice(0, 100))
  expect(first.err).toContain('Shown: 1 to 100, the newest first. There are more.')
  const shown = await as(issuer).run`connection list`
  expect(shown.err).toMatch(/Next:\n {2}agent connection list --offset 100$/)
  const rest = await as(issuer).run`connection list -q --offset 100`
  expect(rest).toMatchObject({ out: ids.slice(100).join('\n'), err: '' })

  const even = await as(issuer).run`connection list --label EVEN --limit=2`
  expect(even.out).toMatch(/Even 102[^]*Even 100/)
  expect(even.out).not.toMatch(/Odd|Even 98/)
  expect(even.err).toContain('agent connection list --label EVEN --limit=2 --offset 2')
  expect((await as(issuer).run`connection list --label ${'even 98'} -q`).out.split('\n')).toHaveLength(1)
  expect((await as(issuer).json`connection list --label nobody`).contents).toEqual([])
})

test('records are filtered by state and role', async () => {
  await using pair = await startCommandedPair()
  const { issuer, holder, as } = pair
  const { inviterConnectionId } = await connect(issuer, holder)
  await issuer.call('POST /connections', { body: {} })
  const list = (...flags: string[]) => as(issuer).run`connection list -q ${flags}`
  expect((await list('--state', 'connectionresponsesent')).out).toBe(inviterConnectionId)
  expect((await list('--state', 'connected')).out).toBe(inviterConnectionId)
  expect((await list('--state', 'waiting for an answer to the invitation')).out.split('\n')).toHaveLength(1)
  expect((await list('--role', 'inviter')).out.split('\n')).toHaveLength(2)
  expect((await list('--role', 'Invitee')).out).toBe('')
  const wrong = await list('--state', 'Done')
  expect(wrong).toMatchObject(
    fails(2, '--state: "Done" is not a state of a connection. Valid values: connected; took too long; '),
  )
  const role = await as(issuer).run`proof list --role issuer`
  expect(role).toMatchObject({ code: 2, err: expect.stringContaining('Valid values: Verifier, Prover.') })
})
