/** `agent key rotate` */
import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { readSecretFile } from '../../cli/input/secrets.ts'

export default defineCommand({
  summary: 'Replace the master key while the daemon runs (administrator)',
  description:
    'Wallets, API keys and connections do not change. A key in a file or in the keyring is replaced by a random key, or by the given one. For a key in AGENT_MASTER_KEY, give the new key and change the variable before the next start; until then both keys open the data folder. A key has 32 bytes, in base64: openssl rand -base64 32.',
  examples: ['agent key rotate', 'openssl rand -base64 32 | agent key rotate --new-key-file -'],
  flags: {
    'new-key-file': Flags.string({
      description: 'file of the new key, - for standard input; default: a random key',
    }),
  },
  async run({ flags, say, call, print }) {
    const file = flags['new-key-file']
    const newKey =
      file === undefined ? undefined : readSecretFile('new-key-file', file, (text) => say(text)).trim()
    const rotation = await call('POST /_system/master-key/rotation', { body: { newKey } })
    const { source, isReplaced } = rotation
    print(source, [
      ['master key', isReplaced ? `replaced in ${source}` : `not yet in ${source}`],
      ['opens the data folder', isReplaced ? 'the new one alone' : 'the new one and the present one'],
    ])
    say(
      isReplaced
        ? 'Earlier copies of the data folder need the previous key: keep it as long as you keep them.'
        : `Put the new key into ${source} before the next start. After that start the present key is no longer valid.`,
    )
    return rotation
  },
})
