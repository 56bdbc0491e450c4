/** Writes `man/agent.1`, the manual page, with the macros of man(7). */
import { exitCodes } from '../../cli/errors/errors.ts'
import { readCommands, summary, topics, type Command, type Flag } from './manifest.ts'

/** The variables that commands read. */
const variables = {
  AGENT_PROFILE: 'The profile of the daemon to use.',
  AGENT_URL: 'The base URL of the daemon’s HTTP API.',
  AGENT_API_KEY: 'The API key of the tenant.',
  AGENT_API_KEY_FILE: 'The file of the API key of the tenant.',
  AGENT_ADMIN_KEY: 'The key of the administrator.',
  AGENT_ADMIN_KEY_FILE: 'The file of the key of the administrator.',
  AGENT_CONFIG_DIR: 'The folder of the profiles.',
  AGENT_DATA_DIR: 'The data folder of the daemon.',
  AGENT_CONFIG_FILE: 'The configuration file of the daemon.',
  NO_COLOR: 'Print no colours.',
}

/** Flags of every command, or of every command that talks to a daemon. */
const isCommon = ({ helpGroup }: Flag) => helpGroup === 'GLOBAL' || helpGroup === 'DAEMON'

export function manPage(): string {
  const commands = readCommands().filter(({ hidden }) => !hidden)
  const common = commands.find(({ id }) => id === 'connection:list')!
  const lines = [
    '.\\" Written by `npm run docs`.',
    '.TH AGENT 1 "" "identity-agent" "User Commands"',
    '.SH NAME',
    `agent \\- ${escape(summary.replace(/\.$/, '').replace(/^A /, 'a '))}`,
    '.SH SYNOPSIS',
    '.B agent',
    '.I topic command',
    '[arguments] [flags]',
    '.br',
    '.B agent',
    '.I topic command',
    '.B \\-\\-help',
    '.SH DESCRIPTION',
    'The commands use the HTTP API of a daemon, which stores the wallets.',
    'Data goes to standard output, messages to standard error.',
    '.SH "FLAGS OF EVERY COMMAND"',
    ...Object.values(common.flags).filter(isCommon).flatMap(flagLines),
    '.SH COMMANDS',
    ...commands.flatMap(commandLines),
    '.SH TOPICS',
    ...Object.entries(topics).flatMap(([name, about]) => [
      '.TP',
      bold(name.replaceAll(':', ' ')),
      escape(`${about}.`),
    ]),
    '.SH "EXIT STATUS"',
    ...Object.entries(exitCodes).flatMap(([code, [, what]]) => ['.TP', bold(code), escape(what)]),
    '.SH ENVIRONMENT',
    'A flag overrides a variable, and a variable overrides the profile.',
    ...Object.entries(variables).flatMap(([name, meaning]) => ['.TP', bold(name), escape(meaning)]),
  ]
  return `${lines.join('\n')}\n`
}

function commandLines({ id, summary, description, examples, args, flags }: Command): string[] {
  const own = Object.values(flags).filter((flag) => !isCommon(flag) && !flag.hidden)
  const positional = Object.values(args).map(({ name, required }) =>
    required ? name.toUpperCase() : `[${name.toUpperCase()}]`,
  )
  return [
    `.SS "agent ${[id.replaceAll(':', ' '), ...positional].map(escape).join(' ')}"`,
    escape(`${summary}.`),
    ...(description === undefined ? [] : [escape(description)]),
    ...Object.values(args).flatMap(({ name, description }) => [
      '.TP',
      italic(name.toUpperCase()),
      escape(sentence(description ?? '')),
    ]),
    ...own.flatMap(flagLines),
    ...(examples.length === 0
      ? []
      : [
          '.PP',
          '.nf',
          ...examples.map((line) => `.RS\n${escape(line.replaceAll('<%= config.bin %>', 'agent'))}\n.RE`),
          '.fi',
        ]),
  ]
}

function flagLines({
  name,
  char,
  type,
  description = '',
  options,
  required,
  multiple,
  allowNo,
  helpValue,
  default: preset,
}: Flag): string[] {
  const value = type === 'boolean' ? '' : `=${helpValue ?? '<value>'}${multiple ? '...' : ''}`
  const spelled = `${char === undefined ? '' : `-${char}, `}--${allowNo ? '[no-]' : ''}${name}${value}`
  const notes = [
    required && 'Required.',
    options && `One of ${options.join(', ')}.`,
    typeof preset === 'string' || typeof preset === 'number'
      ? preset !== '' && `Default: ${String(preset)}.`
      : undefined,
  ].filter((note) => typeof note === 'string')
  return ['.TP', bold(spelled), escape([sentence(description), ...notes].join(' '))]
}

const sentence = (text: string) => `${text.slice(0, 1).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`
const bold = (text: string) => `.B "${escape(text)}"`
const italic = (text: string) => `.I "${escape(text)}"`

/** Escapes a text for roff: control characters, escapes and non-ASCII characters. */
function escape(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('…', '...')
    .replaceAll('-', '\\-')
    .replaceAll('"', '\\(dq')
    .replaceAll(
      /[^\n\x20-\x7e]/gu,
      (char) => `\\[u${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`,
    )
    .replaceAll(/^(?=[.'])/gm, '\\&')
}
