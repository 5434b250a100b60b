# SPDX-License-Identifier: BSD-3-Clause
# html.sed - links between the manual pages, as mandoc writes them: <b>rollcall</b>(7), or rollcall(7) in the text
s|<b>\(rollcall\)</b>(\([17]\))|<a href="\1.\2.html"><b>\1</b>(\2)</a>|g
s|<b>\(librollcall\)</b>(\(3\))|<a href="\1.\2.html"><b>\1</b>(\2)</a>|g
s|<b>\(spank_rollcall\)</b>(\(8\))|<a href="\1.\2.html"><b>\1</b>(\2)</a>|g
s|\([ (]\)\(rollcall\)(\([17]\))|\1<a href="\2.\3.html">\2(\3)</a>|g
