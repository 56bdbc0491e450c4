import * as Flags from '@oclif/core/flags'
import { labelled, readNames } from '../../cli/client/names.ts'
import { defineCommand } from '../../cli/define-command.ts'
import { localeFlag, wantedLocales } from '../../cli/format/locale.ts'
import { changedFields, credentialFields } from '../../cli/format/records.ts'
import { nextCommand, openInvitation } from '../../cli/format/states.ts'
import { idOf } from '../../cli/input/arguments.ts'
import { printInvitationAgain } from '../../cli/invitation.ts'
import { askedQrFlags, chooseAskedQr } from '../../cli/qr/flags.ts'
import { whichRecord } from '../../cli/prompts/questions.ts'

export default defineCommand({
  summary: 'Show a credential record: claims, validity and revocation status',
  description: 'Fetches the status list each time. `agent credential export` prints the credential itself.',
  examples: [
    'agent credential show <id>',
    'agent credential show <id> --locale de',
    'agent credential show <id> --changes',
    'agent credential show <id> --json | jq .content.standing',
  ],
  args: idOf('credential record'),
  flags: {
    ...askedQrFlags(),
    locale: localeFlag,
    changes: Flags.boolean({ description: 'show what the last renewal has changed in the claims' }),
  },
  questions: { id: whichRecord('credential') },
  async run(context) {
    const { args, flags, call, isJson, isQuiet, print, suggest } = context
    const qr = chooseAskedQr(flags)
    const path = { recordId: args.id }
    const record = await call('GET /issue-credentials/records/{recordId}', { path })
    const { recordId, protocolState } = record
    const isWanted = record.credential !== undefined && !isQuiet
    const content = isWanted
      ? await call('GET /issue-credentials/records/{recordId}/credential', { path })
      : undefined
    const wanted = wantedLocales(flags.locale)
    const names = isJson || isQuiet ? undefined : await readNames(call, [record])
    const changed = flags.changes ? changedFields(record) : []
    const fields = credentialFields(record, content, names, wanted)
    print(recordId, await labelled(context, [...fields, ...changed]))
    suggest(nextCommand('credential', protocolState, recordId, record))
    await printInvitationAgain(context, recordId, openInvitation(protocolState, record), qr)
    return content ? { ...record, content } : record
  },
})
