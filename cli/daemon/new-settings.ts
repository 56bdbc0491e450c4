/** `agent init`: the answers to its questions, and the configuration file that has them. */
import { UsageError } from '../errors/errors.ts'
import { askChoice, askText, here } from '../prompts/ask.ts'

/** What `agent init` asks for, by flag. */
export type Answers = {
  name?: string | undefined
  port?: string | undefined
  'public-url'?: string | undefined
  'didcomm-url'?: string | undefined
  'database-url'?: string | undefined
  webhook?: string | undefined
}

/** The settings of the file, in its order: the flag with the value, and what the file says about it. */
const settings: readonly { name: string; flag: keyof Answers; about: string; otherwise: string }[] = [
  {
    name: 'AGENT_HTTP_PORT',
    flag: 'port',
    about: 'Port of the HTTP API. The DIDComm endpoint has the port 5 above it.',
    otherwise: '8085',
  },
  {
    name: 'REST_SERVICE_URL',
    flag: 'public-url',
    about: 'Public URL of the HTTP API, for others than this machine. Links and QR codes have it.',
    otherwise: 'https://agent.example',
  },
  {
    name: 'DIDCOMM_SERVICE_URL',
    flag: 'didcomm-url',
    about: 'Public URL of the DIDComm endpoint. Every DID of a connection has it: choose it for years.',
    otherwise: 'https://didcomm.agent.example',
  },
  {
    name: 'AGENT_DATABASE_URL',
    flag: 'database-url',
    about: 'PostgreSQL, instead of files in the data folder.',
    otherwise: 'postgres://agent@127.0.0.1/agent',
  },
  {
    name: 'GLOBAL_WEBHOOK_URL',
    flag: 'webhook',
    about: 'Receiver of the events of all wallets.',
    otherwise: 'https://app.example/events',
  },
]

const didcommAbove = 5

/** Asks the five questions whose flags are not given. An empty answer means the default. */
export async function askSettings(given: Answers, terminal = here()): Promise<Answers> {
  const check = await checks()
  const answers = { ...given }
  const ask = async (flag: keyof Answers, question: string) => {
    answers[flag] ??= (await askText(question, { check: check(flag), optional: true }, terminal)) || undefined
  }
  await ask('name', 'Name of the agent, its profile here (local):')
  await ask('port', 'Port of the HTTP API (8085):')
  await ask('public-url', 'Public URL of the HTTP API, such as https://agent.example (this machine only):')
  if (answers['public-url'] !== undefined)
    await ask('didcomm-url', 'Public URL of the DIDComm endpoint, such as https://didcomm.agent.example:')
  if (answers['database-url'] === undefined) {
    const isFiles = await askChoice(
      'Where are wallets stored?',
      [
        { value: true, name: 'in files of the data folder' },
        { value: false, name: 'in PostgreSQL, also for several nodes' },
      ],
      terminal,
    )
    if (!isFiles)
      await ask('database-url', 'URL of the database, such as postgres://agent:password@host/agent:')
  }
  await ask('webhook', 'URL that receives the events of all wallets (none):')
  return answers
}

/** @throws {UsageError} for the first value that is not valid, with the reason of the settings table */
export async function requireValidAnswers(answers: Answers, asks: boolean): Promise<void> {
  const check = await checks()
  for (const [flag, value] of Object.entries(answers) as [keyof Answers, string | undefined][]) {
    const fault = value === undefined ? undefined : check(flag)(value)
    if (fault !== undefined) throw new UsageError(`--${flag} ${fault}.`)
  }
  if (!asks && answers['public-url'] !== undefined && answers['didcomm-url'] === undefined)
    throw new UsageError('--public-url needs --didcomm-url: other agents send their messages there.')
}

async function checks() {
  const { findFault } = await import('../../src/foundation/config/report.ts')
  return (flag: keyof Answers) => (text: string) => {
    if (flag === 'name')
      return /^[a-z0-9-]+$/i.test(text) ? undefined : 'is not made of letters, digits and hyphens'
    if (flag === 'port' && Number(text) + didcommAbove > 65_535) return 'must be at most 65530'
    return findFault(settings.find((each) => each.flag === flag)!.name, text)
  }
}

/** Writes the configuration file in YAML. Settings without an answer are comments. */
export function toFile(answers: Answers): string {
  const lines = settings.flatMap(({ name, flag, about, otherwise }) => {
    const value = answers[flag]
    const line = (text: string) => `${name}: ${flag === 'port' ? text : JSON.stringify(text)}`
    return [
      '',
      `# ${about}`,
      value === undefined ? `# ${line(otherwise)}` : line(value),
      ...(flag === 'port' && value !== undefined
        ? [`AGENT_DIDCOMM_PORT: ${value === '0' ? 0 : Number(value) + didcommAbove}`]
        : []),
    ]
  })
  return [
    '# Settings of the agent. docs/operate/configuration.md describes all of them, `agent config show --all`',
    '# lists them, and `agent config set` changes this file.',
    ...lines,
    '',
  ].join('\n')
}
