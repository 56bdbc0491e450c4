/** All commands follow the same conventions. */
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { readCommands, type Command, type Flag } from '../../build/docs/manifest.ts'
import { hasOptionalValue } from '../../cli/argv.ts'
import { commandIds } from './_operations.ts'

const commands = readCommands()
const byId = new Map(commands.map((command) => [command.id, command]))

/** The commands that violate a condition. */
const offenders = (holds: (command: Command) => boolean, among = commands) =>
  among.filter((each) => !holds(each)).map(({ id }) => id)

test('the manifest matches the commands', () => {
  expect(commands.map(({ id }) => id).toSorted()).toEqual(commandIds())
})

test('every command has a one-line summary and examples', () => {
  expect(offenders(({ summary }) => /^[A-Z“].*[^.]$/.test(summary ?? ''))).toEqual([])
  expect(offenders(({ examples }) => examples.length > 0)).toEqual([])
})

test('every command has --json and --quiet', () => {
  // Help and the dashboard print no JSON.
  expect(offenders(({ flags }) => flags['json'] !== undefined)).toEqual(['help', 'tui'])
  expect(offenders(({ flags }) => flags['quiet']?.char === 'q')).toEqual(['help'])
})

test('every flag and every argument has a description', () => {
  const silent = commands.flatMap(({ id, flags, args }) =>
    [...Object.values(flags), ...Object.values(args)]
      .filter(({ description = '' }) => !/\S.*[^.\s]$|^Format/.test(description))
      .map(({ name }) => `${id} ${name}`),
  )
  expect(silent).toEqual([])
})

/** What a flag says about others. The manifest does not have all of it. */
type Rules = {
  dependsOn?: string[]
  exclusive?: string[]
  exactlyOne?: string[]
  relationships?: { type: string; flags: string[] }[]
  /** What a value in the next word looks like, if the value may be left out. */
  next?: RegExp
}
const { commands: built } = createRequire(import.meta.url)('../../dist/commands.cjs') as {
  commands: Record<string, { flags: Record<string, Rules> }>
}

/** Whether a command accepts some flags, alone or with others. */
function accepts(rules: Record<string, Rules>, given: ReadonlySet<string>): boolean {
  const withAny = (names: readonly string[]) =>
    names.some((name) => !given.has(name) && name in rules && accepts(rules, new Set([...given, name])))
  for (const [name, { exactlyOne = [] }] of Object.entries(rules)) {
    const chosen = exactlyOne.filter((each) => given.has(each)).length
    if (chosen > 1) return false
    if (exactlyOne.length > 0 && chosen === 0) return withAny(exactlyOne)
    if (!given.has(name)) continue
    const { dependsOn = [], exclusive = [], relationships = [] } = rules[name]!
    if (exclusive.some((each) => given.has(each))) return false
    const missing = dependsOn.find((each) => !given.has(each))
    if (missing !== undefined) return withAny([missing])
    for (const { type, flags } of relationships) {
      expect(type).toBe('some')
      if (!flags.some((each) => given.has(each))) return withAny(flags)
    }
  }
  return true
}

test('every flag can be given', () => {
  const unusable = Object.entries(built)
    .map(([id, { flags }]): [string, Record<string, Rules>] => [id, flags])
    .flatMap(([id, flags]) =>
      Object.keys(flags)
        .filter((name) => !accepts(flags, new Set([name])))
        .map((name) => `${id} --${name}`),
    )
  expect(unusable).toEqual([])
})

test('all lists have the same paging flags', () => {
  // There are few profiles, nodes and templates.
  const short = ['profile:list', 'node:list', 'template:list']
  const lists = commands.filter(({ id }) => /:(?:list|deliveries)$/.test(id) && !short.includes(id))
  expect(lists.length).toBeGreaterThan(10)
  expect(offenders(({ flags: { limit } }) => limit?.default === 100, lists)).toEqual([])
  // Events are an endless log: a page starts after an event.
  expect(
    offenders(({ flags: { offset, after } }) => offset?.default === 0 || after !== undefined, lists),
  ).toEqual([])
})

/** Verbs that act on an existing resource. */
const aboutOne =
  /:(?:show|remove|update|rename|move|issue|present|reject|revoke|export|deliveries|replay|secret|test|token|publish|deactivate)$/

test('a command requires its resource as the first argument', () => {
  const ones = commands.filter(
    ({ id }) => aboutOne.test(id) && !['schema:publish', 'event:replay'].includes(id),
  )
  expect(ones.length).toBeGreaterThan(30)
  // Without a name, the profile in use, or the whole configuration, is printed.
  const wholes = ['profile:show', 'config:show']
  expect(
    offenders(({ id, args }) => Object.values(args)[0]?.required === true || wholes.includes(id), ones),
  ).toEqual([])
})

test('commands that remove something ask for confirmation or accept --yes', () => {
  const takers = commands.filter(({ id }) => /:(?:remove|revoke|deactivate|delete)$/.test(id))
  expect(takers.length).toBeGreaterThan(8)
  expect(offenders(({ flags: { yes } }) => yes?.char === 'y', takers)).toEqual([])
  const others = commands.filter(({ id }) => /:(?:delete|rm|destroy|get|ls|new)$/.test(id))
  expect(others.map(({ id }) => id)).toEqual([])
})

/** Flags whose descriptions differ by command, with their common meaning. */
const meanings: Readonly<Record<string, string>> = {
  yes: 'nothing is asked',
  'accept-offers': 'offers over a connection are accepted without a person',
  curve: 'the curve of a key',
  'data-dir': 'the folder of a daemon',
  'key-id': 'the authentication key that signs',
  after: 'what came after this event',
  all: 'what is left out otherwise',
  author: 'the DID of a schema’s author',
  claim: 'a claim, given by its name and value or asked for by its path',
  connection: 'the connection, by its id',
  certificate: 'the issuer certificate that signs',
  context: 'contexts of a DID document',
  'expires-in': 'the time in which an invitation, an offer or a request can be answered',
  definition: 'the credential definition: by its guid, and where it is asked for, or URL',
  did: 'the DID to be known by, or to be signed in with',
  dcql: 'the query for credentials',
  oid4vp: 'a request for wallets of OpenID4VP',
  event: 'an event, by its id',
  follow: 'go on with what happens, until Ctrl-C',
  format: 'the format of a credential',
  id: 'the id of what is published or made',
  label: 'what this side calls a connection',
  name: 'what something is called',
  locale: 'the language of names, or of messages',
  origin: 'the origin of a web page that asks a browser for a wallet',
  output: 'the new file that it is written to',
  'passphrase-file': 'the file of a passphrase',
  plain: 'lines without frames, for screen readers',
  port: 'a port to listen at',
  profile: 'the profile of a daemon',
  deliver: 'messages to people: that a webhook sends them, or where the link of an offer goes',
  request: 'a request: of the API by its id, or of a verifier with its content',
  qr: 'how the QR code is drawn',
  schema: 'the schema: by its guid or URL, and where schemas are published and checked, itself',
  signed: 'with a signature',
  since: 'what happened from an instant on',
  subject: 'whom a credential is about',
  tag: 'a word to find a schema by',
  template: 'a template of a credential, by its name',
  'issuing-did': 'the DID that issues',
  'signing-did': 'the DID that signs requests',
  thid: 'what belongs to a DIDComm thread',
  timeout: 'how long to wait',
  'any-issuer': 'credentials of every issuer are accepted',
  'trust-issuer': 'an issuer whose credentials are accepted',
  to: 'where something goes: to a webhook, or to another agent',
  type: 'the type of an event',
  version: 'which version of several',
  url: 'where a daemon is',
  'admin-key-file': 'the file of the administrator’s key',
  quiet: 'print less: ids, or names',
  wait: 'wait until it is done; records that have states can be waited for in any of them',
  wallet: 'a wallet, by its id',
  open: 'open a page in the browser',
  'tx-code': 'the transaction code of an offer: that it has one, or the code itself',
  configuration: 'the credential configuration of an issuer, by its id',
  grant: 'how a wallet gets access to a credential',
  'client-id': 'the id of a client at an authorization server',
  scope: 'what a key or a token permits',
  explain: 'print each step of the protocol',
}

test('a flag has the same meaning in every command', () => {
  const uses = new Map<string, Flag[]>()
  for (const { flags } of commands)
    for (const flag of Object.values(flags)) uses.set(flag.name, [...(uses.get(flag.name) ?? []), flag])
  const count = (flags: readonly Flag[], of: (flag: Flag) => unknown) => new Set(flags.map(of)).size
  const varied = [...uses]
    .filter(([, flags]) => count(flags, ({ description }) => description) > 1)
    .map(([name]) => name)
  expect(varied.filter((name) => meanings[name] === undefined)).toEqual([])
  expect(Object.keys(meanings).filter((name) => !varied.includes(name))).toEqual([])
  expect([...uses].filter(([, flags]) => count(flags, ({ char }) => char) > 1).map(([name]) => name)).toEqual(
    [],
  )
  expect([...uses].filter(([, flags]) => count(flags, ({ type }) => type) > 1).map(([name]) => name)).toEqual(
    ['tx-code', 'wait', 'deliver'],
  )
  expect(
    [...uses]
      .filter(([, flags]) => count(flags, ({ options }) => options?.join(' ')) > 1)
      .map(([name]) => name),
    // Types of events, names of templates that exist, curves of DIDs and of certificates, and scopes: those
    // of a token are the provider's.
  ).toEqual(['type', 'template', 'curve', 'scope'])
  // One letter means one flag.
  const letters = new Map<string, Set<string>>()
  for (const [name, [flag]] of uses)
    if (flag!.char) letters.set(flag!.char, new Set([...(letters.get(flag!.char) ?? []), name]))
  expect([...letters.values()].filter(({ size }) => size > 1)).toEqual([])
})

test('every example is a valid command line', () => {
  const wrong = commands.flatMap(({ id, examples }) =>
    examples.flatMap((example) =>
      faultsOf(id, example.replaceAll('<%= config.bin %>', 'agent')).map((fault) => `${example}: ${fault}`),
    ),
  )
  expect(wrong).toEqual([])
})

/** The errors in an example of a command: each `agent …` in it must be valid, and one must be that command. */
function faultsOf(own: string, example: string): string[] {
  const calls = splitCalls(splitWords(example)).map((words) => ({ words, command: findCommand(words) }))
  if (!calls.some(({ command }) => command?.id === own)) return [`is not about ${own.replaceAll(':', ' ')}`]
  return calls.flatMap(({ words, command }) =>
    command ? faultsOfCall(command, words) : [`there is no agent ${words.join(' ')}`],
  )
}

/**
 * The words of a line as a shell splits them, up to a comment. Operators such as pipes, and `<placeholders>`,
 * are separate words.
 */
function splitWords(line: string): string[] {
  return [
    ...line.replace(/\s#\s.*$/, '').matchAll(/(?:[$<]\(|<[^<>]*>|"[^"]*"|'[^']*'|[^\s"'|><)])+|[|>)]/g),
  ].map(([word]) => word.replaceAll(/["']/g, ''))
}

/** The words after every `agent`, up to the end of its command. */
function splitCalls(words: readonly string[]): string[][] {
  const starts = words.flatMap((word, index) => (/(?:^|[$<]\()agent$/.test(word) ? [index] : []))
  return starts.map((start) => {
    const end = words.findIndex((word, index) => index > start && /^(?:[|>)]|&&)$/.test(word))
    return words.slice(start + 1, end === -1 ? undefined : end)
  })
}

function findCommand(words: readonly string[]): Command | undefined {
  return [3, 2, 1]
    .map((count) => byId.get(words.slice(0, count).join(':')))
    .find((command) => command !== undefined)
}

function faultsOfCall({ id, args, flags }: Command, words: readonly string[]): string[] {
  const faults: string[] = []
  const given = new Set<string>()
  let count = 0
  const rest = words.slice(id.split(':').length)
  for (let index = 0; index < rest.length; index += 1) {
    const word = rest[index]!
    if (!/^-./.test(word)) {
      count += 1
      continue
    }
    const [name = '', inline] = word.replace(/^--?/, '').split(/=(.*)/s)
    const flag = Object.values(flags).find(
      (each) => each.name === name.replace(/^no-/, '') || each.name === name || word === `-${each.char}`,
    )
    if (!flag) {
      faults.push(`there is no ${word}`)
      continue
    }
    given.add(flag.name)
    if (flag.type === 'boolean') continue
    const next = rest[index + 1]
    // A placeholder stands for an id.
    const isNext = built[id]!.flags[flag.name]?.next?.test(next?.replace(/^<.*>$/, '0000') ?? '')
    const isAlone = hasOptionalValue(flag) && !isNext && inline === undefined
    const value = inline ?? (isAlone ? undefined : rest[(index += 1)])
    if (value === undefined && !isAlone) faults.push(`${word} has no value`)
    if (value !== undefined && flag.options && !flag.options.includes(value))
      faults.push(`${word} is none of ${flag.options.join(', ')}`)
  }
  const wanted = Object.values(args)
  if (count > wanted.length) faults.push('there are too many arguments')
  if (count < wanted.filter(({ required }) => required).length) faults.push('there are too few arguments')
  faults.push(
    ...Object.values(flags)
      .filter(({ name, required }) => required && !given.has(name))
      .map(({ name }) => `--${name} is missing`),
  )
  return faults
}

test('examples are parsed as a shell parses them', () => {
  expect(faultsOf('policy:list', 'agent policy list --name x | agent policy show <id>')).toEqual([])
  expect(faultsOf('policy:list', 'agent policy list --nam=x')).toEqual(['there is no --nam=x'])
  expect(faultsOf('policy:list', 'agent policy lst')).toEqual(['is not about policy list'])
  expect(faultsOf('policy:show', 'agent policy show')).toEqual(['there are too few arguments'])
  expect(faultsOf('completion', 'source <(agent completion bash)')).toEqual([])
  expect(faultsOf('event:trigger', 'X=$(agent event trigger ConnectionUpdated --quiet)')).toEqual([])
})
