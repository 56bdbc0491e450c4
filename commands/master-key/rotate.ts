import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { yesFlag } from '../../cli/input/arguments.ts'
import { readSecretFile } from '../../cli/input/secrets.ts'
import { confirm } from '../../cli/prompts/ask.ts'

export default defineCommand({
  summary: 'Replace the master key while the daemon runs (administrator)',
  description:
    'The master key encrypts the data folder. Rotate it when somebody else may have read the key; if they have a copy of the data folder too, a rotation does not help (docs/operate/keys.md). Nothing is lost: wallets, API keys and connections do not change. The new key is random, or the one that you give: 32 bytes in base64 (openssl rand -base64 32). The agent replaces a key in a file or in the keyring. It keeps the previous key beside the new one, with the date in its name, because earlier backups open only with the previous key. The agent cannot replace a key in AGENT_MASTER_KEY: give the new key, and change the variable before the next start. Until then both keys open the data folder. Asks for confirmation; in scripts use --yes.',
  examples: [
    'agent master-key rotate',
    'openssl rand -base64 32 | agent master-key rotate --new-key-file - --yes',
  ],
  flags: {
    'new-key-file': Flags.string({
      description: 'file of the new key, - for standard input; default: a random key',
    }),
    yes: yesFlag,
  },
  async run({ flags, say, call, print }) {
    const file = flags['new-key-file']
    const newKey =
      file === undefined ? undefined : readSecretFile('new-key-file', file, (text) => say(text)).trim()
    if (!flags.yes)
      await confirm(
        'Replace the master key? Backups and copies of the data from before need the present key, also later.',
      )
    const rotation = await call('POST /_system/master-key/rotation', { body: { newKey } })
    const { source, isReplaced, keptKey } = rotation
    print(source, [
      ['master key', isReplaced ? `replaced in ${source}` : `not yet in ${source}`],
      ['previous key', isReplaced ? (keptKey ?? 'was lost') : `in ${source}`],
      ['opens the data folder', isReplaced ? 'the new one alone' : 'the new one and the present one'],
    ])
    say(
      isReplaced
        ? 'Earlier backups need the previous key: keep it as long as you keep them, and a copy of the new key apart from the data.'
        : `Put the new key into ${source} before the next start. After that start the present key opens only earlier backups: keep a copy as long as you keep them.`,
    )
    return rotation
  },
})
