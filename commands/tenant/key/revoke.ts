import { defineCommand } from '../../../cli/define-command.ts'
import { keyFields } from '../../../cli/format/administration.ts'
import { argument, idOf, yesFlag } from '../../../cli/input/arguments.ts'
import { confirm } from '../../../cli/prompts/ask.ts'

export default defineCommand({
  summary: 'Revoke an API key of a tenant permanently',
  description:
    '`agent tenant key list` prints the ids of keys. Asks for confirmation; in scripts use --yes. Needs the administrator’s key.',
  examples: ['agent tenant key revoke <tenant id> <key id>'],
  args: {
    ...idOf('tenant'),
    key: argument('id of the key'),
  },
  flags: { yes: yesFlag },
  async run({ args, flags, call, print }) {
    if (!flags.yes)
      await confirm(`Revoke the key ${args.key} of the tenant ${args.id}? The key stops working permanently.`)
    const key = await call('DELETE /iam/entities/{id}/api-keys/{keyId}', {
      path: { id: args.id, keyId: args.key },
    })
    print(key.id, keyFields(key))
    return key
  },
})
