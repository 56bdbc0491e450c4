/** Everything that can be explained, and how it is found. */
import { problems, type ProblemType } from '../../src/base/problem.ts'
import { exitCodes } from '../errors/errors.ts'
import { exitCodeOf } from '../errors/report.ts'
import { meanings, type Topic } from '../format/states.ts'
import { agentProblems, type Texts } from './agent-problems.ts'
import { protocolProblems } from './protocol-problems.ts'
import { reportCodes } from './report-codes.ts'
import { suiteProblems } from './suite-problems.ts'

export type Explanation = {
  kind: 'problem' | 'exit-code' | 'state' | 'report-code'
  name: string
  /** What happened. */
  what: string
  why: string
  /** What to do. */
  do: string
  /** The HTTP status of a problem. */
  status?: number
  /** The exit code of a command that meets the problem. */
  exitCode?: number
  /** What has the state. */
  topic?: Topic
}

/** Every problem has texts; a type without any does not compile. */
const problemTexts: Readonly<Record<ProblemType, Texts>> = {
  ...agentProblems,
  ...protocolProblems,
  ...suiteProblems,
}

/** The names under which all of a kind are found. */
export const kinds = {
  'exit-codes': 'exit-code',
  problems: 'problem',
  states: 'state',
  'report-codes': 'report-code',
} as const satisfies Record<string, Explanation['kind']>

/** The words of ours that `--json` has as the code of an error, and the exit codes that they go with. */
const ownCodes: Readonly<Record<string, string>> = {
  usage: '2',
  daemonunreachable: '7',
  timeout: '6',
  bug: '1',
}

/** All that there is, kind by kind. */
export const explanations: readonly Explanation[] = [
  ...Object.entries(exitCodes).map(([name, [word, what, why, remedy]]): Explanation => {
    return {
      kind: 'exit-code',
      name,
      what: `${word[0]!.toUpperCase()}${word.slice(1)}. ${what}`,
      why,
      do: remedy,
      exitCode: Number(name),
    }
  }),
  ...(Object.entries(meanings) as [Topic, (typeof meanings)[Topic]][]).flatMap(([topic, states]) =>
    Object.keys(states).map((state) => ofState(topic, state)),
  ),
  ...(Object.entries(problemTexts) as [ProblemType, Texts][]).map(
    ([type, [what, why, remedy]]): Explanation => {
      const status = problems[type]
      return {
        kind: 'problem',
        name: type,
        what,
        why,
        do: remedy,
        status,
        exitCode: exitCodeOf({ type, status }),
      }
    },
  ),
  ...Object.entries(reportCodes).map(([name, [what, why, remedy]]): Explanation => {
    return { kind: 'report-code', name, what, why, do: remedy }
  }),
]

/**
 * What a name stands for: a kind, an exit code, a state, a problem's type or the last part of it, or a report's code or the longest
 * beginning of it that is known. Capitals and punctuation do not matter. Several states or types may have one name.
 */
export function findExplanations(given: string): Explanation[] {
  const kind = Object.entries(kinds).find(([name]) => name === given.toLowerCase())?.[1]
  if (kind !== undefined) return explanations.filter((each) => each.kind === kind)
  const wanted = bare(given)
  const exact = explanations.filter(({ name }) => bare(name) === wanted || name === ownCodes[wanted])
  if (exact.length > 0) return exact
  const byLastPart = explanations.filter(
    ({ kind: its, name }) => its === 'problem' && bare(lastPart(name)) === wanted,
  )
  return byLastPart.length > 0 ? byLastPart : byBeginning(given.toLowerCase())
}

/** The names that can be asked for. */
export function names(): string[] {
  return [...new Set([...Object.keys(kinds), ...explanations.flatMap(({ name }) => [name, lastPart(name)])])]
}

/** Another agent's report has codes of its own under those of the specification. */
function byBeginning(code: string): Explanation[] {
  const known = explanations
    .filter(({ kind, name }) => kind === 'report-code' && code.startsWith(`${name}.`))
    .toSorted((a, b) => b.name.length - a.name.length)
  return known.slice(0, 1)
}

function ofState(topic: Topic, state: string): Explanation {
  const { words, next, ends } = meanings[topic][state]!
  const why =
    ends === undefined
      ? next === undefined
        ? 'It is the turn of the other side, or of the daemon.'
        : 'It is your turn.'
      : ends === 0
        ? 'Everything went well.'
        : 'It has come to an end that was not wanted; the record keeps the reason.'
  const wait = `Nothing: it goes on by itself. \`agent ${topic} show <id>\` says where it is, --wait on a command waits for it.`
  const remedy =
    ends === undefined
      ? wait
      : ends === 0
        ? 'Nothing.'
        : `\`agent ${topic} show <id>\` has the reason as its last failure; begin anew.`
  const what = `${words[0]!.toUpperCase()}${words.slice(1)}.`
  return {
    kind: 'state',
    name: state,
    topic,
    what,
    why,
    do: next === undefined ? remedy : `\`${next.replace('{id}', '<id>')}\``,
  }
}

function lastPart(name: string): string {
  return name.split(/[:/]/).at(-1)!
}

function bare(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
}
