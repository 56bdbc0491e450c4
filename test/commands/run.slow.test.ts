/** `agent run`: scenarios of commands that refer to each other's results. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { splitWords } from '../../cli/scenario/model.ts'
import { serveTwoTenants } from './_agents.ts'

const { user, url } = serveTwoTenants('bob')
const example = fileURLToPath(new URL('../../docs/examples/main-flow.yaml', import.meta.url))

function runText(content: string, ...more: string[]) {
  const file = join(mkdtempSync(join(user.folder, 'scenario-')), 'scenario.yaml')
  writeFileSync(file, content)
  return user.run(['run', file, ...more])
}

test('the example connects, issues and proves, with its results as JSON', async () => {
  const { steps } = await user.json([
    'run',
    example,
    '--var',
    `url=${url()}`,
    '--var',
    `folder=${user.folder}`,
    '--var',
    'name=Zoë "Z" O’Neil $HOME',
  ])
  expect(steps.map(({ exitCode }: any) => exitCode)).toEqual(Array.from({ length: 14 }, () => 0))
  expect(steps.at(-1).result).toMatchObject({ status: 'PresentationVerified' })
  expect(steps[9].result.claims).toEqual({ name: 'Zoë "Z" O’Neil $HOME' })
})

test('the first step that fails ends the run, with its exit code and its reason', async () => {
  const { code, out, err } = await runText(
    'steps: [{run: did list}, {run: connection show 01a20a97}, {run: did create}]',
  )
  expect([code, out.trimEnd().split('\n').length, err]).toEqual([
    3,
    2,
    expect.stringContaining('Step 2 failed: There is no connection'),
  ])
  const json = await runText('steps: [{id: a, run: did list}, {run: did show nonsense}]', '--json')
  expect([json.code, JSON.parse(json.out).steps.length]).toEqual([3, 2])
})

test('exit codes and results can be expected', async () => {
  const steps =
    'steps:\n - {id: a, run: did list, expect: {kind: ManagedDIDPage}}\n - {run: connection show 01a20a97, exit: 3}\n'
  expect(await runText(steps)).toMatchObject({ code: 0 })
  const other = await runText('steps: [{run: did list, expect: {contents: {0: {status: WRONG}}}}]')
  expect([other.code, other.err]).toEqual([1, expect.stringMatching(/contents\.0.*is not/)])
  expect(await runText('steps: [{run: did list, exit: 3}]')).toMatchObject({
    code: 1,
    err: expect.stringContaining('it must end with exit code 3, and has succeeded'),
  })
})

test.each([
  ['steps: []', 'has no steps'],
  ['steps: [{run: did list, when: never}]', 'must not have "when"'],
  ['steps: [{run: "did \'list"}]', 'a quote is not closed'],
  ['steps: [{id: a, run: did list}, {id: a, run: did list}]', 'step 2: the id a is taken'],
  ['steps: [{run: "did show ${later.did}"}, {id: later, run: did list}]', '${later} is not an earlier step'],
  ['steps: [{run: "did show ${vars.x}"}]', '${vars.x} is not in vars'],
  ['steps: [{id: a, run: did list}, {run: "did show ${a.b.c}"}]', 'a has no b. It has'],
  ['steps: [', 'line 1'],
  ['a: &a [1]\nsteps: *a', 'aliases (*a) are not supported'],
])('a mistake ends the command with exit code 2: %s', async (content, reason) => {
  expect(await runText(content)).toMatchObject({ code: 2, err: expect.stringContaining(reason) })
})

test.each(['--help', '--profile=bob', '--api-key-file=bob.key', '-'])(
  'a value is never a flag: %s',
  async (value) => {
    const run = (...commands: string[]) => {
      const [first, ...more] = commands.map((command) => `run: "${command}"`)
      const expected = 'expect: {label: "${vars.x}"}'
      const steps = [`id: a, ${first}, ${expected}`, ...more].map((step) => `{${step}}`)
      return runText(`vars: {x: ""}\nsteps: [${steps.join(', ')}]`, '--var', `x=${value}`)
    }
    const invite = 'connection invite --label=${vars.x}'
    expect(await run(invite)).toMatchObject({ code: 0 })
    for (const command of ['connection show ${a.label}', 'connection remove --yes ${a.label}'])
      expect(await run(invite, command)).toMatchObject({
        code: 2,
        err: expect.stringContaining(`\${a.label} is "${value}", which would be a flag.`),
      })
  },
)

test('an unknown variable is refused, and a file that is missing', async () => {
  const given = await runText('vars: {a: 1}\nsteps: [{run: did list}]', '--var', 'b=2')
  expect([given.code, given.err]).toEqual([2, expect.stringContaining('no variable b. It has a')])
  expect(await user.run`run /nowhere.yaml`).toMatchObject({
    code: 2,
    err: expect.stringContaining('cannot be read'),
  })
})

test.each([
  ['a  b\tc', ['a', 'b', 'c']],
  [`--claim 'name=A B' "x \\"y\\" $z"`, ['--claim', 'name=A B', 'x "y" $z']],
  [`a\\ b 'it'"'"'s'`, ['a b', "it's"]],
  [`'' ""`, ['', '']],
  [`"open`, undefined],
])('words of %s', (line, words) => expect(splitWords(line)).toEqual(words))
