import { expect, test } from 'vitest'
import { askForMissing, typed, withoutRules, type Asking, type Questions } from '../../cli/prompts/missing.ts'

const call = (() => Promise.reject(new Error('unexpected call of the daemon'))) as unknown as Asking['call']
const answer = (...pieces: string[]) => ({ ask: () => Promise.resolve(pieces) })
const never = { ask: () => Promise.reject(new Error('that was given')) }

// prettier-ignore
test.each<[what: string, questions: Questions, argv: string[], given: Record<string, unknown>, complete: string[]]>([
  ['a flag is put before what was typed', { did: answer('--did=x') }, ['--', 'a'], {}, ['--did=x', '--', 'a']],
  ['an argument is put after it', { id: answer('1') }, ['--wait'], {}, ['--wait', '1']],
  ['what was given is not asked for', { id: never, did: answer('--did=x') }, ['1'], { id: '1' }, ['--did=x', '1']],
  ['an empty text was given', { id: never }, [''], { id: '' }, ['']],
  ['a switch that is off was not', { invitation: answer('--invitation') }, [], { invitation: false }, ['--invitation']],
  ['one that another flag rules out is not asked for', { connection: { ...never, unless: ['invitation'] } }, ['--invitation'], { invitation: true }, ['--invitation']],
  ['nor when an answer has ruled it out', { to: answer('--invitation'), connection: { ...never, unless: ['invitation'] } }, [], {}, ['--invitation']],
  ['several keep their order', { claim: answer('--claim=a=1', '--claim=b=2'), id: answer('1') }, ['-q'], {}, ['--claim=a=1', '--claim=b=2', '-q', '1']],
  ['there may be nothing to add', { credential: answer() }, ['1'], {}, ['1']],
])('%s', async (_, questions, argv, given, complete) => {
  expect(await askForMissing(questions, argv, { call, given })).toEqual(complete)
})

test('a question gets the answers of the earlier ones', async () => {
  const seen: unknown[] = []
  const questions: Questions = {
    id: answer('1'),
    credential: {
      ask: ({ given }) => {
        seen.push(given['id'])
        return Promise.resolve([])
      },
    },
  }
  await askForMissing(questions, [], { call, given: {} })
  expect(seen).toEqual(['1'])
})

test('the completed command line is printed as it can be typed', () => {
  expect(typed(['agent', '--claim=name=Alice', '--claim=city=St. Gallen', "it's", '', 'did:prism:ab'])).toBe(
    String.raw`agent --claim=name=Alice '--claim=city=St. Gallen' 'it'\''s' '' did:prism:ab`,
  )
})

test('a command without its rules still has its flags', () => {
  const flags = {
    connection: { name: 'connection', exactlyOne: ['connection', 'invitation'] },
    did: { required: true, char: 'd' },
  }
  expect(withoutRules({ args: {}, flags } as never)).toMatchObject({
    flags: { connection: { name: 'connection', exactlyOne: undefined }, did: { required: false, char: 'd' } },
  })
})
