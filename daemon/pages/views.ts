/**
 * The pages, as `dist/daemon/pages.cjs`, which the daemon loads with the first page: they are not part of its
 * start.
 */
import { english, type Texts } from './english.ts'
import { german } from './german.ts'

export { consentPage, lostPage, refusalPage } from './consent.ts'
export { homePage } from './home.ts'
export { invitationPage } from './invitation.ts'
export { icon, render } from './page.ts'
export { deliveredPage, offerPage } from './offer.ts'
export { presentationRequestPage } from './presentation-request.ts'
export { problemPage } from './problem.ts'
export { referencePage } from './reference.ts'
export { challengePage, didRequestPage } from './session.ts'

/** The languages of the pages (BCP 47), the default first. */
export const languages = { en: english, de: german } as const satisfies Record<string, Texts>
