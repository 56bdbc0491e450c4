/** The commands for the operations of the HTTP API that errors of the daemon name. */

/** By operation, or by the name of a decision. Ids in the path go into the command. */
// prettier-ignore
export const commandsOf: Readonly<Record<string, string>> = {
  'GET /_system/nodes':                                                 'agent node list',
  'GET /wallets':                                                       'agent wallet list',
  'POST /connection-invitations':                                       'agent accept',
  'POST /did-registrar/dids':                                           'agent did create',
  'POST /issue-credentials/credential-offers/accept-invitation':        'agent accept',
  'POST /issue-credentials/records/openid4vci':                         'agent accept',
  'POST /issue-credentials/records/{recordId}/accept-offer':            'agent credential accept {recordId}',
  'POST /issue-credentials/records/{recordId}/begin-authorization':     'agent accept <link>',
  'POST /issue-credentials/records/{recordId}/issue-credential':        'agent credential issue {recordId}',
  'POST /issue-credentials/records/{recordId}/reject-offer':            'agent credential reject {recordId}',
  'POST /present-proof/presentations/accept-invitation':                'agent accept',
  'POST /wallets':                                                      'agent wallet create',
  'POST /wallets/{walletId}/uma-permissions':                           'agent wallet grant {walletId}',
  'presentation-accept':                                                'agent proof accept',
  'presentation-reject':                                                'agent proof reject',
  'request-accept':                                                     'agent proof present',
  'request-decline':                                                    'agent proof reject',
  'request-reject':                                                     'agent proof reject',
}

const patterns = Object.entries(commandsOf).map(([operation, command]) => {
  const path = operation.replaceAll('/', '\\/').replaceAll(/\{(\w+)\}/g, '(?<$1>[^\\s/\'"`,;)]+?)')
  return { pattern: new RegExp(`^${path}$`), command }
})

/** Replaces operations in a text by commands. Operations without a command stay. */
export function inCommands(text: string): string {
  return text
    .replaceAll(/\b(?:GET|POST|PUT|PATCH|DELETE) \/[\w/{}.-]*[\w}]/g, toCommand)
    .replaceAll(/(?<=cannot do ')[a-z-]+(?=')/g, toCommand)
}

function toCommand(operation: string): string {
  for (const { pattern, command } of patterns) {
    const found = pattern.exec(operation)
    if (!found) continue
    // The name of a parameter is no id.
    return command.replaceAll(/ \{(\w+)\}/g, (_, name: string) => {
      const id = found.groups?.[name] ?? ''
      return id.startsWith('{') ? '' : ` ${id}`
    })
  }
  return operation
}
