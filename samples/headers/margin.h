/* Sample of a header that many files share, written for this folder.
 *
 * This file belongs to the imaginary program Lantern. You may read it, print it, fold it into a paper boat and let it
 * swim, as long as you keep these lines together with it. It comes without any promise: if the boat sinks, the authors
 * are sorry but not responsible. Questions go to the keeper of the lighthouse, who answers on foggy days only.
 */
#ifndef LANTERN_MARGIN_H
#define LANTERN_MARGIN_H
int lantern_margin(int left, int right);
#endif
