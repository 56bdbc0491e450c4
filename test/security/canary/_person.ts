/** A user of the command line: all output, and everything the daemon writes. */
import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { generateMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import { defaultId } from '../../../src/wallet/tenants.ts'
import { newUser } from '../../commands/_cli.ts'
import { secretsIn } from './_keys.ts'
import { filesIn, newSecret, processPlaces, withThoseOf, type Places } from './_places.ts'
import type { Canary } from './_sweep.ts'

export async function runCommands(): Promise<{ places: Places; secrets: Canary[] }> {
  const user = newUser()
  const given: Record<string, string> = {
    words: generateMnemonic(wordlist),
    passphrase: newSecret(),
    'custom header': newSecret(),
    'new master key': newSecret(),
    'passphrase of the export': newSecret(),
    AGENT_API_KEY: newSecret(),
    'seed that is wrong': randomBytes(64).toString('hex').slice(1),
  }
  const places: Places = {}
  const run = async (args: string[], env: Record<string, string> = {}) => {
    const outcome = await user.run(args, { env })
    places[`agent ${args.slice(0, 3).join(' ')}`] = `${outcome.out}\n${outcome.err}`
    return outcome
  }
  const file = (name: string, text: string) => {
    const path = join(user.folder, name)
    writeFileSync(path, text, { mode: 0o600 })
    return path
  }
  const data = join(user.folder, 'data')
  try {
    const own = {
      AGENT_LOG_LEVEL: 'trace',
      AGENT_ALLOW_PRIVATE_NETWORK: 'true',
      AGENT_API_KEY: given['AGENT_API_KEY']!,
    }
    const started = await run(['daemon', 'start', '--json'], own)
    const firstKey = readFileSync(join(data, 'master.key'), 'utf8').trim()
    const [created, added] = await Promise.all([
      run(['tenant', 'create', 'acme']),
      run([
        'webhook',
        'add',
        'http://127.0.0.1:9/',
        '--signed',
        '--json',
        '--headers',
        `@${file('headers', JSON.stringify({ 'x-a': given['custom header'] }))}`,
      ]),
      run([
        'wallet',
        'create',
        'words',
        '--mnemonic-file',
        file('words', given['words']!),
        '--passphrase-file',
        file('phrase', given['passphrase']!),
      ]),
      run(['wallet', 'create', 'wrong', '--seed-file', file('seed', given['seed that is wrong']!)]),
      run(['master-key', 'rotate', '--yes', '--new-key-file', file('key', given['new master key']!)]),
    ])
    const opener = ['--passphrase-file', file('opener', given['passphrase of the export']!)]
    const output = join(user.folder, 'export', 'the.wallet')
    mkdirSync(join(user.folder, 'export'))
    await run(['wallet', 'export', defaultId, '--output', output, ...opener])
    await run(['wallet', 'import', output, ...opener])
    await Promise.all([
      run(['doctor']),
      run(['profile', 'show', '--json']),
      run(['webhook', 'list', '--json']),
    ])
    Object.assign(
      places,
      processPlaces(JSON.parse(started.out).pid, 'the daemon’s process'),
      filesIn(data, 'data, running'),
    )
    await run(['daemon', 'stop'])
    await run(['daemon', 'logs'])
    Object.assign(
      places,
      filesIn(data, 'data'),
      filesIn(join(user.folder, 'config'), 'config'),
      filesIn(dirname(output), 'export'),
    )
    const profile = JSON.parse(readFileSync(join(user.folder, 'config', 'profiles', 'local.json'), 'utf8'))
    const displayed = {
      'first master key': firstKey,
      'api key of the tenant': /api key +(\S+)/.exec(created.out)![1]!,
      'webhook secret': JSON.parse(added.out).secret,
      'api key of the profile': profile.apiKey,
      'admin token of the profile': profile.adminToken,
    }
    const inFolder = secretsIn(data, Buffer.from(given['new master key']!, 'base64url'), 'the person')
    return { places, secrets: withThoseOf({ ...given, ...displayed }, inFolder) }
  } finally {
    user.remove()
  }
}
