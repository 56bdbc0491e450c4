/** Changes of the audit log without the agent's key are detected. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Problem } from '../../../src/foundation/problem.ts'
import { parseHead } from '../../../src/wallet/audit/chain.ts'
import { act, copyOf, openLog, tamper } from './_log.ts'
import { untilEnd } from '../../support/shared.ts'

/** Seven entries of all kinds, in order of their numbers. */
const log = await untilEnd(openLog())
const { audit } = log
await act(audit, 'one', { id: '00000000-0000-4000-8000-000000000001' })
await act(audit, 'two')
const refusal = new Problem('error:AuthenticationError:InvalidCredentials', 'no')
await audit.refused(
  { actor: 'tenant', entityId: 'e', keyId: 'k', walletId: 'w', address: '192.0.2.1', action: 'three' },
  refusal,
)
await audit
  .during({ actor: 'agent', action: 'four' }, () => Promise.reject(new Error('a fault')))
  .catch(() => undefined)
for (let n = 0; n < 11; n++)
  await audit.refused({ actor: 'anonymous', address: '192.0.2.2', action: 'five' }, refusal)
await audit.countRefusals()
await act(audit, 'last')
const head = (await audit.verify()).head!
tamper(log.path, 'create table kept as select * from entry')

/** Returns the verification result after a change of the entries. */
async function verified(statement: string) {
  tamper(log.path, statement)
  const verification = await log.audit.verify()
  tamper(log.path, 'delete from entry; insert into entry select * from kept')
  return verification
}

/** Returns the verification result of a changed copy after a start. */
async function verifiedLater(statement: string, noted?: string) {
  const folder = copyOf(log.folder)
  try {
    tamper(join(folder, 'audit.db'), statement)
    await using again = await openLog({}, folder)
    return {
      ...(await again.audit.verify(noted === undefined ? undefined : parseHead(noted))),
      logged: again.logged.join(''),
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('an unaltered log is intact and contains its head', async () => {
  expect(await verifiedLater('select 1', head)).toEqual({
    isIntact: true,
    entries: 16,
    head,
    noted: 'there',
    logged: '',
  })
})

describe('one column of one entry', () => {
  const rows = { middle: 2, first: 1, tally: 15, last: 16 }
  // prettier-ignore
  const others: Record<string, string> = {
    at: "'2026-01-01T00:00:00.000Z'", actor: "'agent'", entity_id: "'another'", key_id: "'another'", address: "'203.0.113.1'", action: "'another'",
    wallet_id: "'another'", subject: `'{"id":"another"}'`, request_id: "'another'", outcome: "'unknown'", status: '201', problem_type: "'NotFound'",
    count: '999', previous: "'another'", digest: "'another'",
  }
  test.each(Object.entries(others))('%s', async (column, value) => {
    for (const [where, sequence] of Object.entries(rows)) {
      const { isIntact, fault } = await verified(
        `update entry set ${column} = ${value} where sequence = ${sequence}`,
      )
      expect({ where, isIntact, sequence: fault?.sequence }).toEqual({ where, isIntact: false, sequence })
    }
  })
})

test('a value that is removed or malformed', async () => {
  for (const change of [
    'address = null',
    'status = null',
    "actor = 'unknown'",
    "subject = 'no JSON'",
    "at = ''",
  ])
    expect((await verified(`update entry set ${change} where sequence = 3`)).fault, change).toMatchObject({
      sequence: 3,
    })
})

test.each([
  ['the first entry is removed', 'delete from entry where sequence = 1', 2],
  ['an entry in the middle is removed', 'delete from entry where sequence = 7', 8],
  [
    'two entries are swapped',
    'update entry set sequence = sequence * -1 where sequence in (5, 6); update entry set sequence = 11 + sequence where sequence < 0',
    5,
  ],
  [
    'an entry is inserted twice',
    'insert into entry select 17, at, actor, entity_id, key_id, address, action, wallet_id, subject, request_id, outcome, status, problem_type, count, previous, digest, issuer, login from entry where sequence = 16',
    17,
  ],
  [
    'an entry is inserted before the first',
    'insert into entry select -1, at, actor, entity_id, key_id, address, action, wallet_id, subject, request_id, outcome, status, problem_type, count, previous, digest, issuer, login from entry where sequence = 16',
    -1,
  ],
])('%s', async (_, statement, sequence) => {
  const { isIntact, fault } = await verified(statement)
  expect({ isIntact, sequence: fault?.sequence }).toEqual({ isIntact: false, sequence })
})

test('only a noted head shows that the newest entries were removed', async () => {
  const cut = 'delete from entry where sequence > 10'
  expect(await verifiedLater(cut)).toMatchObject({ isIntact: true, entries: 10 })
  expect(await verifiedLater(cut, head)).toMatchObject({ isIntact: false, entries: 10, noted: 'missing' })
  expect(await verifiedLater('delete from entry', head)).toMatchObject({
    isIntact: false,
    entries: 0,
    noted: 'missing',
  })
  // So does a head of another log.
  expect(await verifiedLater('select 1', `16:${'A'.repeat(43)}`)).toMatchObject({
    isIntact: false,
    noted: 'missing',
  })
})

test('a start notices that the newest entry is not genuine', async () => {
  expect((await verifiedLater("update entry set action = 'another' where sequence = 16")).logged).toContain(
    'the audit log was altered',
  )
})

test('a row of `begun` without a MAC does not become an entry', async () => {
  const columns = 'id, at, actor, action, mac'
  const forged = `insert into begun (${columns}) values ('1', '2026-01-01T00:00:00.000Z', 'admin', 'DELETE /iam/entities/{id}', 'AAAA')`
  const folder = copyOf(log.folder)
  try {
    tamper(join(folder, 'audit.db'), forged)
    await using copy = await openLog({}, folder)
    expect((await copy.entries())[0]).toMatchObject({ actor: 'agent', action: 'altered', outcome: 'unknown' })
    expect(await copy.entries({ action: 'DELETE /iam/entities/{id}' })).toEqual([])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a removal while the log is open is found without a noted head', async () => {
  await using own = await openLog()
  for (const action of ['one', 'two', 'three']) await act(own.audit, action)
  tamper(own.path, 'delete from entry where sequence = 3')
  expect(await own.audit.verify()).toMatchObject({ isIntact: false, fault: { sequence: 3 } })
})

describe('entries that the retention removes', () => {
  test('are known to be pruned, and an earlier head is too old', async () => {
    await using first = await openLog()
    const acts = (at: string, name: string) =>
      first.audit.during({ at, actor: 'admin', action: name }, (begin) => begin())
    for (const name of ['a', 'b', 'c']) await acts('2020-01-01T00:00:00.000Z', name)
    const early = parseHead((await first.audit.verify()).head!)
    await acts(new Date().toISOString(), 'new')
    await first.close()
    {
      await using second = await openLog({}, first.folder)
      expect((await second.entries()).map(({ action, sequence }) => [sequence, action])).toEqual([
        [5, 'retention'],
        [4, 'new'],
      ])
      expect(await second.audit.verify(early)).toMatchObject({ isIntact: true, entries: 2, noted: 'too old' })
      expect(await second.audit.verify({ ...early!, sequence: 4 })).toMatchObject({
        isIntact: false,
        noted: 'missing',
      })
    }
    // A later removal of what the retention kept is detected.
    tamper(first.path, 'delete from entry where sequence = 4')
    await using third = await openLog({}, first.folder)
    expect(await third.audit.verify()).toMatchObject({ isIntact: false, fault: { sequence: 5 } })
  })

  test('do not include entries that were backdated', async () => {
    const old = "update entry set at = '2020-01-01T00:00:00.000Z' where sequence <= 3"
    expect(await verifiedLater(old)).toMatchObject({ isIntact: false, entries: 16, fault: { sequence: 1 } })
  })
})
