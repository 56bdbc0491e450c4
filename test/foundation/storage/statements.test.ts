/** Cached statements: prepared once, never used twice at a time, and correct after tables have changed. */
import { onTestFinished, expect, test } from 'vitest'
import { openSqlite } from '../../../src/foundation/storage/sqlite.ts'
import { createPrepare } from '../../../src/foundation/storage/dialect.ts'

function openCounted() {
  const database = openSqlite(':memory:')
  onTestFinished(() => void database.close())
  database.exec('create table t (x); insert into t values (1), (2)')
  const prepared: string[] = []
  const prepare = createPrepare({
    prepare(text: string) {
      prepared.push(text)
      return database.prepare(text)
    },
  })
  return { prepare, prepared }
}

test('a text is prepared once, for all parameters', () => {
  const { prepare, prepared } = openCounted()
  const read = (x: number) => prepare('select x from t where x = ?').all([x])
  expect([read(1), read(2), read(3), read(1)]).toEqual([[{ x: 1 }], [{ x: 2 }], [], [{ x: 1 }]])
  expect(prepared).toHaveLength(1)
})

test('a statement that is being iterated is not used twice', () => {
  const { prepare } = openCounted()
  const pairs = []
  for (const outer of prepare('select x from t').iterate([])) {
    for (const inner of prepare('select x from t').iterate([])) pairs.push([outer, inner])
    expect(prepare('select x from t').all([])).toHaveLength(2)
  }
  expect(pairs).toHaveLength(4)
})

test('statements prepared before a change of tables see the change', () => {
  const { prepare } = openCounted()
  const read = () => prepare('select * from t where x = ?').all([1])
  expect(read()).toEqual([{ x: 1 }])
  prepare('alter table t add column y').run([])
  expect(read()).toEqual([{ x: 1, y: null }])
  prepare('drop table t').run([])
  prepare('create table t (z, x, y)').run([])
  prepare('insert into t values (?, ?, ?)').run([3, 1, 2])
  expect(read()).toEqual([{ z: 3, x: 1, y: 2 }])
})

test('the cache keeps the most recently used statements', () => {
  const { prepare, prepared } = openCounted()
  const often = 'select x from t'
  for (let n = 0; n < 1_000; n++) {
    prepare(often)
    prepare(`select ${n}`)
  }
  expect(prepared.filter((text) => text === often)).toHaveLength(1)
  prepare('select 0')
  expect(prepared.filter((text) => text === 'select 0')).toHaveLength(2)
})
