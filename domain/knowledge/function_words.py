"""Words of questions and sentences that tell nothing of their subject, as they are indexed.

A small base knows too few texts to tell that 'where' is common. English, German, French, Spanish, Italian,
Portuguese, Dutch, Polish, Turkish, Russian and Arabic.
"""

_WORDS = """
a about an and any are as at be been but by can could did do does for from had has have he her his
how i if in into is it its may me my no not of on or our out she should so some than that the their
them then there these they this those to was we were what when where which who whom whose why will
with would you your please tell show find aber als am auch auf aus bei bin bis da das dass dem den
der des die du durch ein eine einem einen einer er es fur hat haben ich ihr im ist kann man mein mit
nach nicht noch oder sein seine sich sie sind uber um und uns von vor wann warum welche welchem
welchen welcher welches wenn wer wie wird wir wo zu zum zur bitte gibt au aux avec ce cette comment
dans de elle en est et il la le les leur mais ne ou par pas pour pourquoi quand que quel quelle
quels qui sa se ses son sont sur un une vous al como con cual cuales cuando del donde el ella esta
este las lo los mas para pero por porque quien ser si su sus una y che chi come cosa dal dei della
di dove e gli ha nel non per perche piu quale quali quando sono ao aos com dos ela em isso na nao
nos o onde os pela quais qual quem sem sua uma aan dat een het hoe ik kan met naar niet om op te tot
uit van voor waar waarom wanneer wat welke worden wordt zijn co czy dla gdzie jak jaki jest kiedy
kto ktory nie oraz po przez w z za bir bu icin ile kac kim mi nasil neden nedir nerede ve в во где
для и из как какая какои когда кто ли на не от по почему сколько что это ما ماذا من في علي الي
عن مع هل كيف اين متي لماذا كم اي هو هي الذي التي هذا هذه كان كانت ان او لا تم
"""

FUNCTION_WORDS = frozenset(_WORDS.split())
