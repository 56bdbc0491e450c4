/** The command line of the bench, and the timeout of its scenarios. */
import { expect, test } from 'vitest'
import { readOptions } from '../../bench/_options.ts'
import { scenarios } from '../../bench/_scenarios.ts'
import { withinMinutes } from '../../bench/_within.ts'

const chosen = (...args: string[]) => {
  const options = readOptions(args)
  return 'scenarios' in options ? options.scenarios.map(({ name }) => name) : options
}

test('scenarios are chosen by name prefix; slow ones only by full name', () => {
  expect(chosen()).toEqual(scenarios.filter(({ isLong }) => !isLong).map(({ name }) => name))
  expect(chosen('--quick')).toEqual(['didcomm', 'jwt', 'sd-jwt', 'state', 'route', 'flows/full'])
  expect(chosen('connect', 'jwt')).toEqual(['jwt', 'flows/connect'])
  expect(chosen('flows')).toEqual(
    scenarios.map(({ name }) => name).filter((name) => name.startsWith('flows/')),
  )
  expect(chosen('all')).toEqual(scenarios.filter(({ isApart }) => !isApart).map(({ name }) => name))
  expect(chosen('way', 'metrics', 'builds', 'huge', 'nodes', 'mediator', 'peers')).toEqual(
    scenarios.filter(({ isApart }) => isApart).map(({ name }) => name),
  )
  expect(chosen('jwt', 'jvt')).toEqual({ problem: 'no scenario is called jvt: --list names them all' })
})

test('--json has an optional file, --compare needs two', () => {
  expect(readOptions(['--json', 'jwt'])).toMatchObject({ json: true, scenarios: [{ name: 'jwt' }] })
  expect(readOptions(['jwt', '--json', 'out.json'])).toMatchObject({ json: true, file: 'out.json' })
  expect(readOptions(['--compare', 'a.json', 'b.json'])).toEqual({
    does: 'compare',
    before: 'a.json',
    after: 'b.json',
  })
  for (const args of [['--compare', 'a.json'], ['out.json'], ['--json', 'a.json', 'b.json'], ['--jsonn']])
    expect(readOptions(args), args.join(' ')).toHaveProperty('problem')
})

test('a hanging scenario is aborted, one that throws fails, and both are reported', async () => {
  expect(await withinMinutes(0.0001, () => new Promise(() => {}))).toEqual({
    tables: [],
    failures: ['it was not done after 0.0001 minutes'],
    isHanging: true,
  })
  expect(await withinMinutes(1, () => Promise.reject(new Error('no daemon')))).toEqual({
    tables: [],
    failures: ['no daemon'],
    isHanging: false,
  })
})
