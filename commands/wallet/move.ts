import * as Flags from '@oclif/core/flags'
import { connectDaemon } from '../../cli/client/api.ts'
import { findAccess, fromProcess } from '../../cli/client/settings.ts'
import { defineCommand } from '../../cli/define-command.ts'
import { UsageError } from '../../cli/errors/errors.ts'
import { idOf } from '../../cli/input/arguments.ts'
import { checkMove, moveWallet } from '../../cli/wallet-move.ts'

export default defineCommand({
  summary: 'Move a wallet to the agent of another profile (administrator)',
  description:
    'Suspends the wallet here, exports it, and imports it at the other agent, whose profile has its administrator’s key. The temporary file is encrypted with a random passphrase, and is removed. If the import fails, the wallet stays suspended here: run the command again, or `agent wallet resume`. Connections keep working if the other agent takes over the public addresses (REST_SERVICE_URL, DIDCOMM_SERVICE_URL) of this one.',
  examples: ['agent wallet move acme --to new', 'agent wallet move <id> --to new --profile old'],
  args: idOf('wallet'),
  flags: {
    to: Flags.string({ required: true, description: 'the profile of the other agent' }),
  },
  async run({ args: { id }, flags, call, getFileClient, getAccess, print, say }) {
    // The keys in the environment are those of this agent.
    const { AGENT_CONFIG_DIR, AGENT_DATA_DIR, AGENT_PROFILE, profileFrom, AGENT_CONFIG_FILE } = fromProcess()
    const around = { AGENT_CONFIG_DIR, AGENT_DATA_DIR, AGENT_PROFILE, profileFrom, AGENT_CONFIG_FILE }
    const other = findAccess({ profile: flags.to }, around as Parameters<typeof findAccess>[1])
    if (other.url === getAccess().url)
      throw new UsageError(`--to: ${flags.to} is the agent at ${other.url}, which has the wallet already.`)
    const from = { call, getFileClient, name: getAccess().url }
    const to = { ...connectDaemon(() => other), name: flags.to }
    const wallet = (await checkMove(from, to, id)) ?? (await moveWallet(from, to, id))
    print(wallet.id, [
      ['wallet', wallet.id],
      ['name', wallet.name],
      ['created', wallet.createdAt],
    ])
    if (!flags.quiet)
      say(
        `\nIts connections keep working if ${flags.to} takes over the public addresses of this agent (REST_SERVICE_URL, DIDCOMM_SERVICE_URL). The keys of its tenants were not moved:\n  agent tenant create <name> --wallet ${wallet.id} --profile ${flags.to}`,
      )
    return wallet
  },
})
