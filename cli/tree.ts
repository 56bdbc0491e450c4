/**
 * The tree of commands: the groups of `agent --help`, the order of a topic's commands, former names, and what
 * a name that does not exist probably means. The descriptions of topics are in package.json, for oclif.
 */

/** A group of topics, and of commands without a topic. `main` ones are in the first help. */
export type Group = { name: string; main: readonly string[]; more: readonly string[] }

// prettier-ignore
export const groups: readonly Group[] = [
  { name: 'Start',     main: ['demo', 'init', 'daemon', 'doctor', 'tui'],
                       more: ['explain', 'completion', 'help', 'version'] },
  { name: 'Exchange',  main: ['accept', 'connection', 'credential', 'proof'],
                       more: ['message', 'trace', 'decode', 'didcomm'] },
  { name: 'Identity',  main: ['did', 'schema', 'trust'],
                       more: ['policy', 'onboard', 'signin', 'creddef', 'vdr'] },
  { name: 'OpenID4VC', main: ['issuer', 'template'],
                       more: ['oid4vc', 'issuer-cert', 'dcql', 'presentation-definition'] },
  { name: 'Integrate', main: ['webhook', 'event'],
                       more: ['run'] },
  { name: 'Operate',   main: ['profile', 'config', 'tenant', 'backup'],
                       more: ['wallet', 'master-key', 'audit', 'login', 'logout', 'node'] },
]

const mainVerbs = [
  'init start invite offer request create add publish import accept present receive send submit respond',
  'issue verify list show status',
].flatMap((line) => line.split(' '))

const rareVerbs = ['reject', 'remove', 'delete', 'uninstall', 'accept-invitation', 'status-list', 'unpack']

/** Orders the commands of a topic: what one begins with, what one reads, the rest by name, what is rare. */
export function byUse(one: string, other: string): number {
  return rankOf(one) - rankOf(other) || (one < other ? -1 : 1)
}

function rankOf(id: string): number {
  const verb = id.slice(id.lastIndexOf(':') + 1)
  const main = mainVerbs.indexOf(verb)
  if (main >= 0) return main
  return mainVerbs.length + 1 + rareVerbs.indexOf(verb)
}

/** Names that run another command: short ones, and those of the release before. Help does not list them. */
export const aliases: Readonly<Record<string, string>> = {
  start: 'daemon start',
  stop: 'daemon stop',
  restart: 'daemon restart',
  status: 'daemon status',
  logs: 'daemon logs',
  auth: 'signin',
  key: 'master-key',
  'tenant delete': 'tenant remove --with-wallet',
}

/** Replaces an alias at the beginning of a command line. */
export function withoutAlias(words: readonly string[]): string[] {
  const alias = Object.keys(aliases).find((each) => `${words.join(' ')} `.startsWith(`${each} `))
  return alias === undefined
    ? [...words]
    : [...aliases[alias]!.split(' '), ...words.slice(alias.split(' ').length)]
}

/** Names that do not exist, each with the command that a person probably wants. */
export const meant: Readonly<Record<string, string>> = {
  'config get': 'config show',
  'config list': 'config show',
  'proof verify': 'credential verify',
  'daemon list': 'profile list',
  'signin login': 'login',
  invite: 'connection invite',
  issue: 'credential offer',
  offer: 'credential offer',
  open: 'tui',
  ping: 'didcomm ping',
  present: 'proof present',
  request: 'proof request',
  resolve: 'did resolve',
  qr: 'accept',
  revoke: 'credential revoke',
  scan: 'accept',
  settings: 'config show',
  switch: 'profile use',
  use: 'profile use',
  verify: 'credential verify',
  whoami: 'profile show',
}
