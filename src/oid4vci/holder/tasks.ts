/** The tasks of the flow with an issuer, by the names that jobs carry. Their code is loaded by the first one. */
import type { Task } from '../../wallet/wallet.ts'

export const holderTasks: Readonly<Record<string, Task>> = {
  'credential request': async (...given) => (await import('./credential.ts')).requestCredential(...given),
  'deferred request': async (...given) => (await import('./credential.ts')).requestDeferred(...given),
  notification: async (...given) => (await import('./notification.ts')).notifyIssuer(...given),
}
