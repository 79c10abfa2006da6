"""Notes, none of which is a copy of another one of its author."""

from django.db import models

from neardup.django import LshIndex, NoCopiesConstraint, ToMinhash


class Note(models.Model):
    author = models.IntegerField()
    body = models.TextField()

    class Meta:
        indexes = [LshIndex(ToMinhash("body"), name="note_body")]
        constraints = [NoCopiesConstraint(name="note_no_copies", signature=ToMinhash("body"), threshold=0.8, within=["author"])]
