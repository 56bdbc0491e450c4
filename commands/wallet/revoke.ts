import { defineCommand } from '../../cli/define-command.ts'
import { argument, idOf, yesFlag } from '../../cli/input/arguments.ts'
import { confirm } from '../../cli/prompts/ask.ts'

export default defineCommand({
  summary: 'Take access to a wallet from a subject of the OpenID provider',
  description:
    'The next request of the subject is refused. The wallet stays. Asks for confirmation; in scripts use --yes.',
  examples: ['agent wallet revoke <id> 248289761001'],
  args: { ...idOf('wallet'), subject: argument('subject: the `sub` of its tokens') },
  flags: { yes: yesFlag },
  async run({ args, flags, call, printFields }) {
    const { id: walletId, subject } = args
    if (!flags.yes)
      await confirm(
        `Take access to the wallet ${walletId} from the subject ${subject}? Its next request is refused.`,
      )
    await call('DELETE /wallets/{walletId}/uma-permissions', { path: { walletId }, query: { subject } })
    printFields([
      ['wallet', walletId],
      ['revoked', subject],
    ])
    return { walletId, subject, revoked: true }
  },
})
